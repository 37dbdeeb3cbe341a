//! The PNG service through real HTTP on real satellites: what it answers is what the `png` crate says natively.
//!
//! Programs and guests are found as the demo finds them. Where they are not built, the tests say so and pass,
//! unless `SATRAP_E2E=1`.

use png::{Decoder, Transformations};
use png_generate::{File, Options};
use satrap_coordinator::api::{Event, Flow, RunRequest, Source};
use satrap_demo::{
    client::{Connection, Response},
    interrupt::Interrupt,
    service::{Machine, Service, source},
};
use serde_json::{Value, json};
use std::{
    env, fs,
    io::{Cursor, Write},
    net::TcpStream,
    path::Path,
    process::Command,
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

/// How long anything may take that must happen.
const PATIENCE: Duration = Duration::from_secs(20);

/// A machine's satellites are pinned to all its CPUs: two machines at a time would only be slow.
static TURN: Mutex<()> = Mutex::new(());

/// A machine with the service on it, ended in this order.
struct Stage {
    service: Service,
    machine: Machine,
    _turn: MutexGuard<'static, ()>,
}

/// A stage, or nothing where the programs are not built.
fn stage(satellites: usize) -> Option<Stage> {
    let Source::Manifest { base, .. } = source() else {
        unreachable!("the application has a manifest")
    };
    let programs = env::var_os("SATRAP_BIN_DIR").unwrap_or_default();
    let built = base.join("png-front.wasm").exists() && Path::new(&programs).join("satrap-hosted").exists();
    if !built {
        let insists = env::var_os("SATRAP_E2E").is_some_and(|value| value == "1");
        assert!(!insists, "the service and its satellites are not built");
        eprintln!("skipped: build with ./x build, and set SATRAP_BIN_DIR and SATRAP_GUESTS");
        return None;
    }
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let interrupt = Interrupt::default();
    let (machine, _) = Machine::start(satellites).unwrap();
    machine.install(&interrupt, |_| {}).unwrap();
    let service = machine.run(&[], &interrupt).unwrap();
    Some(Stage {
        service,
        machine,
        _turn: turn,
    })
}

fn pictures(count: usize, largest: u32) -> Vec<File> {
    let options = Options {
        count,
        seed: 5,
        largest,
    };
    png_generate::files(&options).collect::<Result<_, _>>().unwrap()
}

fn decode(service: &Service, bytes: &[u8]) -> Response {
    Connection::open(service.port()).unwrap().decode(bytes).unwrap()
}

/// What the service should say, by the `png` crate on this machine.
fn expected(file: &[u8]) -> Value {
    let mut decoder = Decoder::new(Cursor::new(file));
    decoder.set_transformations(Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().unwrap();
    let mut samples = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut samples).unwrap();
    let mut histogram = vec![0_u32; 256];
    for pixel in samples[..frame.buffer_size()].chunks(frame.color_type.samples()) {
        let [red, green, blue] = match *pixel {
            [gray] | [gray, _] => [gray; 3],
            [red, green, blue] | [red, green, blue, _] => [red, green, blue],
            _ => unreachable!("a pixel has one to four samples"),
        };
        let weighed = 2126 * u32::from(red) + 7152 * u32::from(green) + 722 * u32::from(blue);
        histogram[((weighed + 5000) / 10_000) as usize] += 1;
    }
    let info = reader.info();
    let color = match info.color_type {
        png::ColorType::Grayscale => "grayscale",
        png::ColorType::Rgb => "rgb",
        png::ColorType::Indexed => "indexed",
        png::ColorType::GrayscaleAlpha => "grayscale-alpha",
        png::ColorType::Rgba => "rgba",
    };
    json!({
        "width": info.width, "height": info.height, "color_type": color,
        "bit_depth": info.bit_depth as u8, "interlaced": info.interlaced,
        "bytes": file.len(), "histogram": histogram,
    })
}

fn agrees(file: &File, response: &Response) {
    assert_eq!(response.status, 200, "{}", file.name);
    let answer = response.json();
    for (key, value) in expected(&file.bytes).as_object().unwrap() {
        assert_eq!(answer[key], *value, "{} of {}", key, file.name);
    }
    assert!(
        answer["thumbnail"]
            .as_str()
            .unwrap()
            .starts_with("data:image/png;base64,")
    );
}

#[test]
fn every_kind_of_picture_is_told_as_it_is_decoded_natively() {
    for satellites in [1, 2] {
        let Some(stage) = stage(satellites) else { return };
        let service = &stage.service;
        let mut connection = Connection::open(service.port()).unwrap();
        for file in pictures(30, 640) {
            agrees(&file, &connection.decode(&file.bytes).unwrap());
        }
        let large = &pictures(1, 2400)[0];
        assert!(large.bytes.len() > 4 << 20);
        agrees(large, &connection.decode(&large.bytes).unwrap());
    }
}

#[test]
fn what_is_no_picture_is_refused_and_the_connection_goes_on() {
    let Some(stage) = stage(2) else { return };
    let service = &stage.service;
    let good = &pictures(1, 320)[0];
    let mut corrupt = good.bytes.clone();
    let middle = corrupt.len() / 2;
    corrupt[middle] ^= 0xFF;
    let broken: [&[u8]; 4] = [
        b"GIF89a",
        &good.bytes[..good.bytes.len() / 2],
        &corrupt,
        &[0; 100_000],
    ];
    let mut connection = Connection::open(service.port()).unwrap();
    for bytes in broken {
        let response = connection.decode(bytes).unwrap();
        assert_eq!(response.status, 422, "{:?}", response.json());
        assert!(!response.json()["error"].as_str().unwrap().is_empty());
    }
    assert_eq!(connection.decode(&[]).unwrap().status, 422);
    assert_eq!(connection.get("/nowhere").unwrap().status, 404);
    agrees(good, &connection.decode(&good.bytes).unwrap());
    assert_eq!(connection.get("/stats").unwrap().json()["malformed"], 4);
}

#[test]
fn a_picture_that_is_too_large_is_refused_before_it_is_sent() {
    let Some(stage) = stage(1) else { return };
    let service = &stage.service;
    let response = decode(service, &vec![0; (16 << 20) + 1]);
    assert_eq!(response.status, 413);
}

#[test]
fn fifty_clients_are_served_while_others_dawdle() {
    let Some(stage) = stage(2) else { return };
    let service = &stage.service;
    let port = service.port();
    let dawdlers: Vec<TcpStream> = (0..20)
        .map(|_| TcpStream::connect(("127.0.0.1", port)).unwrap())
        .collect();
    for mut dawdler in &dawdlers {
        let head = b"POST /decode HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n\x89PNG";
        dawdler.write_all(head).unwrap();
    }
    let files = pictures(50, 160);
    thread::scope(|scope| {
        for file in &files {
            scope.spawn(move || {
                let mut connection = Connection::open(port).unwrap();
                for _ in 0..4 {
                    agrees(file, &connection.decode(&file.bytes).unwrap());
                }
            });
        }
    });
    drop(dawdlers);
}

/// One process of the manifest, as another application.
fn alone(name: &str) -> Source {
    let Source::Manifest { text, file, base } = source() else {
        unreachable!("the application has a manifest")
    };
    let head = "[application]\nname = \"spare\"\nversion = \"1.0.0\"\n";
    let process = text
        .split("[[process]]")
        .find(|process| process.contains(&format!("name = \"{name}\"")))
        .unwrap();
    let text = format!("{head}[[process]]{process}");
    Source::Manifest { text, file, base }
}

#[test]
fn without_its_decoder_the_service_says_so_and_with_a_new_one_it_goes_on() {
    let Some(stage) = stage(2) else { return };
    let (service, machine) = (&stage.service, &stage.machine);
    let large = &pictures(1, 2400)[0];
    let mut connection = Connection::open(service.port()).unwrap();
    agrees(large, &connection.decode(&large.bytes).unwrap());

    let control = machine.control();
    let processes = control.processes().unwrap();
    let decoder = processes
        .iter()
        .find(|process| process.name == "decoder")
        .unwrap();
    let answered = thread::scope(|scope| {
        let answered = scope.spawn(|| connection.decode(&large.bytes).unwrap().status);
        // Decoding takes longer than sending, so that this is in the middle of it.
        thread::sleep(Duration::from_millis(60));
        control.kill(decoder.id).unwrap();
        answered.join().unwrap()
    });
    assert_eq!(answered, 503);
    assert_eq!(
        connection.decode(&large.bytes).unwrap().status,
        503,
        "there is none"
    );

    let request = RunRequest {
        source: alone("decoder"),
        args: Vec::new(),
        overrides: Vec::new(),
        attached: false,
    };
    control.run(request, &mut |_| Flow::Continue).unwrap();
    agrees(large, &connection.decode(&large.bytes).unwrap());
}

#[test]
fn a_front_end_whose_satellite_dies_listens_again() {
    let Some(stage) = stage(2) else { return };
    let (service, machine) = (&stage.service, &stage.machine);
    let place = service.placed().iter().find(|placed| placed.name == "front");
    let place = place.expect("it was placed").kernel;
    let kernels = machine.control().kernels().unwrap();
    let kernel = kernels.iter().find(|kernel| kernel.id == place).unwrap();
    let pid = kernel.pid.unwrap().to_string();
    assert!(
        Command::new("kill")
            .args(["-9", &pid])
            .status()
            .unwrap()
            .success()
    );

    let ended = |event: &Event| matches!(event, Event::ProcessExited { name, .. } if name == "front");
    let ended = service
        .await_event(PATIENCE, ended)
        .expect("it dies with its satellite");
    let Event::ProcessExited {
        status, restart_ms, ..
    } = ended
    else {
        unreachable!("it was asked for")
    };
    assert!(status.contains(&format!("/kernel/{place}")), "{status}");
    assert!(restart_ms.is_some());
    let listens = |event: &Event| matches!(event, Event::Output { name, .. } if name == "front");
    let line = service
        .await_event(PATIENCE, listens)
        .expect("it is started again");
    let Event::Output { data, .. } = line else {
        unreachable!("it was asked for")
    };
    let line = String::from_utf8_lossy(data.bytes()).into_owned();
    // The system chooses again, because the port was left to it.
    let port = line.trim().rsplit(' ').next().and_then(|port| port.parse().ok());
    let mut connection = Connection::open(port.expect(&line)).unwrap();
    let file = &pictures(1, 320)[0];
    agrees(file, &connection.decode(&file.bytes).unwrap());
}

#[test]
fn a_port_that_is_taken_is_told() {
    let Some(stage) = stage(1) else { return };
    let (service, machine) = (&stage.service, &stage.machine);
    let request = RunRequest {
        source: alone("front"),
        args: vec!["--port".into(), service.port().to_string()],
        overrides: Vec::new(),
        attached: true,
    };
    let mut said = String::new();
    let ended = machine.control().run(request, &mut |event| match event {
        Some(Event::Output { data, .. }) => {
            said += &String::from_utf8_lossy(data.bytes());
            Flow::Continue
        }
        Some(Event::AppEnded { .. }) => Flow::Stop,
        _ => Flow::Continue,
    });
    ended.unwrap();
    assert!(
        said.contains(&format!("cannot listen on port {}", service.port())),
        "{said}"
    );
}

#[test]
fn the_sockets_of_a_service_close_with_it() {
    let Some(stage) = stage(2) else { return };
    let Stage {
        service,
        machine,
        _turn,
    } = stage;
    let port = service.port();
    let mut connection = Connection::open(port).unwrap();
    assert_eq!(connection.get("/").unwrap().status, 200);
    drop(service);
    assert!(connection.get("/").is_err());
    // The driver, on another satellite perhaps, hears of it a moment later.
    let deadline = Instant::now() + PATIENCE;
    while TcpStream::connect(("127.0.0.1", port)).is_ok() {
        assert!(Instant::now() < deadline, "the port stays open");
        thread::sleep(Duration::from_millis(1));
    }
    drop(machine);
}

#[test]
fn satellites_leave_nothing_behind() {
    let Some(stage) = stage(2) else { return };
    let Stage {
        service,
        machine,
        _turn,
    } = stage;
    let pids: Vec<u32> = machine
        .control()
        .kernels()
        .unwrap()
        .iter()
        .filter_map(|kernel| kernel.pid)
        .collect();
    assert_eq!(pids.len(), 2);
    drop(service);
    drop(machine);
    for pid in pids {
        assert!(
            fs::metadata(format!("/proc/{pid}")).is_err(),
            "satellite {pid} lives on"
        );
    }
}

#[test]
fn the_demo_shows_both_placements_and_cleans_up() {
    // Only to know that everything is built, and that no other machine is at work.
    let Some(stage) = stage(1) else { return };
    let folder = env::temp_dir().join(format!("satrap-demo-pictures-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    for file in pictures(3, 200) {
        fs::write(folder.join(file.name), file.bytes).unwrap();
    }
    fs::write(folder.join("no picture.png"), "at all").unwrap();
    drop((stage.service, stage.machine));
    let shown = Command::new(env!("CARGO_BIN_EXE_satrap-demo"))
        .arg(&folder)
        .args(["--seconds", "1"])
        .output()
        .unwrap();
    fs::remove_dir_all(&folder).unwrap();
    let text = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.status.success() && shown.stderr.is_empty(), "{text}");
    let parts = [
        "4 PNGs of ",
        "The PNG service, placed as its manifest says",
        "of them were refused: no PNG",
        "latency p50 ",
        "front - decoder",
        "Started afresh with --affinity front.decoder=2, which was front.decoder=-1",
        "Side by side",
        "copied an upload",
        "The satellites are gone, and all they had.",
    ];
    let mut rest = text.as_str();
    for part in parts {
        let (_, after) = rest
            .split_once(part)
            .unwrap_or_else(|| panic!("{part:?} is missing, or not in its place:\n{text}"));
        rest = after;
    }
    let placed = text
        .lines()
        .filter(|line| line.trim_start().starts_with("front "));
    let satellites: Vec<&str> = placed.filter_map(|line| line.split_whitespace().nth(1)).collect();
    assert_eq!(&satellites[..1], ["2"], "{text}");
    assert!(satellites.contains(&"1"), "one number moved it:\n{text}");
}
