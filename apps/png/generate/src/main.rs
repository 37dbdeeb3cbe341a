//! Writes a folder of varied PNGs: every colour type and bit depth, plain and interlaced, from one pixel to
//! some megabytes. The same seed gives the same files.
//!
//! The PNG service's demo and tests are fed with them. Neighbours: `picture` paints, `raster` holds samples
//! as PNG packs them, `interlace` writes what the `png` crate's encoder cannot.

#![forbid(unsafe_code)]

mod interlace;
mod picture;
mod raster;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use picture::{Motif, Random};
use raster::{FORMATS, Format, Raster};

const HELP: &str = "\
Writes varied PNGs into a folder, the same for the same seed.

Usage: png-generate FOLDER [--count N] [--seed N] [--largest PIXELS]

  --count N         how many files (default 30)
  --seed N          another seed, other pictures (default 1)
  --largest PIXELS  width of the largest picture (default 1600: some 4 MB)
";

/// What the command line asks for.
struct Options {
    folder: PathBuf,
    count: usize,
    seed: u64,
    largest: u32,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.is_empty()
        || arguments
            .iter()
            .any(|argument| argument == "--help" || argument == "-h")
    {
        print!("{HELP}");
        return ExitCode::from(if arguments.is_empty() { 2 } else { 0 });
    }
    match Options::parse(&arguments).and_then(|options| generate(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Options, Box<dyn Error>> {
        let mut options = Options {
            folder: PathBuf::new(),
            count: 30,
            seed: 1,
            largest: 1600,
        };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut value = || rest.next().ok_or_else(|| format!("{argument} needs a value"));
            match argument.as_str() {
                "--count" => options.count = value()?.parse()?,
                "--seed" => options.seed = value()?.parse()?,
                "--largest" => options.largest = value()?.parse()?,
                flag if flag.starts_with('-') => return Err(format!("unknown option {flag}").into()),
                folder if options.folder.as_os_str().is_empty() => options.folder = folder.into(),
                extra => return Err(format!("unexpected argument {extra}").into()),
            }
        }
        if options.folder.as_os_str().is_empty() {
            return Err("say which folder to write to".into());
        }
        if !(1..=8192).contains(&options.largest) {
            return Err("--largest is a width from 1 to 8192 pixels".into());
        }
        Ok(options)
    }
}

fn generate(options: &Options) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(&options.folder)?;
    let mut total = 0;
    for index in 0..options.count {
        let picture = Plan::new(index, options);
        let bytes = picture.encode()?;
        std::fs::write(options.folder.join(picture.file_name(index)), &bytes)?;
        total += bytes.len();
    }
    println!(
        "{} PNGs, {} KiB, in {}",
        options.count,
        total >> 10,
        Path::display(&options.folder)
    );
    Ok(())
}

/// One picture to come.
struct Plan {
    format: Format,
    interlaced: bool,
    width: u32,
    height: u32,
    motif: Motif,
    seed: u64,
}

impl Plan {
    /// Walks through all formats, plain and interlaced, before any comes twice; the sizes grow and shrink
    /// at another pace, so that each format meets each size.
    fn new(index: usize, options: &Options) -> Plan {
        const DIVISORS: [u32; 7] = [1, 64, 5, 2, 16, 3, 1600];
        let mut random = Random::new(options.seed.wrapping_add(index as u64));
        let width = (options.largest / DIVISORS[index % DIVISORS.len()]).max(1);
        let height = (width * 3 / 4).max(1) + random.below(width / 8 + 1);
        Plan {
            format: FORMATS[index % FORMATS.len()],
            interlaced: index / FORMATS.len() % 2 == 1,
            width,
            height,
            motif: Motif::ALL[random.below(Motif::ALL.len() as u32) as usize],
            seed: random.next(),
        }
    }

    fn file_name(&self, index: usize) -> String {
        let layout = if self.interlaced { "adam7" } else { "plain" };
        let (Format { name, depth, .. }, Plan { width, height, .. }) = (self.format, self);
        format!("{index:03}-{name}{depth}-{layout}-{width}x{height}.png")
    }

    fn encode(&self) -> Result<Vec<u8>, Box<dyn Error>> {
        let raster = self.motif.paint(self.format, self.width, self.height, self.seed);
        if self.interlaced {
            Ok(interlace::encode(&raster)?)
        } else {
            Ok(encode_plain(&raster)?)
        }
    }
}

fn encode_plain(raster: &Raster) -> Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, raster.width, raster.height);
    encoder.set_color(raster.format.color);
    encoder.set_depth(raster.format.bit_depth());
    if raster.format.is_indexed() {
        encoder.set_palette(raster.palette.clone());
    }
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&raster.packed())?;
    writer.finish()?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(count: usize) -> Options {
        Options {
            folder: PathBuf::new(),
            count,
            seed: 7,
            largest: 90,
        }
    }

    fn samples(bytes: &[u8]) -> (png::Info<'static>, Vec<u8>) {
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes))
            .read_info()
            .unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        (reader.info().clone(), pixels)
    }

    #[test]
    fn every_format_is_written_plain_and_interlaced_and_reads_back() {
        let options = options(2 * FORMATS.len());
        for index in 0..options.count {
            let plan = Plan::new(index, &options);
            let raster = plan.motif.paint(plan.format, plan.width, plan.height, plan.seed);
            let (info, pixels) = samples(&plan.encode().unwrap());
            assert_eq!((info.width, info.height), (plan.width, plan.height));
            assert_eq!(
                (info.color_type, info.bit_depth as u8),
                (plan.format.color, plan.format.depth)
            );
            assert_eq!(info.interlaced, plan.interlaced);
            assert_eq!(pixels, raster.packed(), "{}", plan.file_name(index));
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_bytes() {
        let options = options(3);
        let encode = |index| Plan::new(index, &options).encode().unwrap();
        assert_eq!(encode(2), encode(2));
    }

    #[test]
    fn a_wrong_command_line_is_explained() {
        let parse = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            Options::parse(&words).err().map(|error| error.to_string())
        };
        assert_eq!(parse("out --count"), Some("--count needs a value".into()));
        assert_eq!(parse("out more"), Some("unexpected argument more".into()));
        assert_eq!(parse("out --size 3"), Some("unknown option --size".into()));
        assert_eq!(parse("out --count 3"), None);
    }
}
