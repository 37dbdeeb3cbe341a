//! Writes frames into pool buffers.
//!
//! A buffer is the camera's from `acquire` until it is sent; then only the viewer may look at it.

#![forbid(unsafe_code)]

use satrap::{Error, Pool, time};

satrap::contract!("frames.wit");
satrap::main!(main);

const FRAMES: u32 = 100;
const FRAME_LEN: usize = 1920 * 1080;
const BUFFERS: usize = 4;

fn main() -> Result<(), Error> {
    let mut viewer = frames::Client::bind("frames")?;
    let pool = Pool::new(viewer.endpoint(), FRAME_LEN, BUFFERS)?;
    for number in 0..FRAMES {
        // Waits while the viewer still looks at all four.
        let mut pixels = pool.acquire()?;
        pixels[0] = number as u8;
        pixels[FRAME_LEN - 1] = !number as u8;
        viewer.frame(number, time::now().as_nanos(), pixels)?;
    }
    viewer.send_stop()?.recv()
}
