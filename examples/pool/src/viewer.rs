//! Looks at frames where the camera wrote them.
//!
//! Dropping a frame's pixels gives the buffer back.

#![forbid(unsafe_code)]

use std::time::Duration;

use frames::service::StartMessage;
use satrap::{Error, println, time::Instant};

satrap::contract!("frames.wit");
satrap::main!(main);

fn main() -> Result<(), Error> {
    let mut camera = frames::Service::register("/example/frames")?.accept()?;
    let (mut frames, mut bytes, mut delay) = (0, 0, Duration::ZERO);
    loop {
        camera = match camera.recv()? {
            StartMessage::Frame {
                number,
                taken_at,
                pixels,
                next,
            } => {
                delay += Instant::from_nanos(taken_at).elapsed();
                let (first, last) = (pixels[0], pixels[pixels.len() - 1]);
                if (first, last) != (number as u8, !number as u8) {
                    println!("frame {number} is torn: {first} {last}");
                }
                frames += 1;
                bytes += pixels.len();
                next
                // `pixels` is dropped here, and the camera may use the buffer again.
            }
            StartMessage::Stop { next } => {
                println!(
                    "{frames} frames, {} MB, each seen {:?} after it was taken",
                    bytes / 1_000_000,
                    delay / frames
                );
                return next.send_stopped();
            }
        }
    }
}
