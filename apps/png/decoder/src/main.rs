//! The decoder, at `/png/decoder`: takes files as moved blocks, answers with what is on them.
//!
//! One loop for all clients; while one picture is decoded the others wait, and several decoders share the work
//! if the manifest asks for several. Neighbours: `image` does the work, `front` is the client.

#![forbid(unsafe_code)]

mod image;

use decoder::service::Start;
use satrap::{Block, Error, Source, eprintln};

use image::Description;
use types::{ColorType, Picture};

satrap::contract!("../png.wit");
satrap::main!(main);

/// Files of at least this many bytes are read where they are mapped; smaller ones are copied, which is
/// cheaper.
const MAP_FROM: usize = 256 << 10;

fn main() -> Result<(), Error> {
    let service = decoder::Service::register("/png/decoder")?;
    let mut clients: Vec<Start> = Vec::new();
    loop {
        match ready(&service, &clients)? {
            None => clients.push(service.accept()?),
            Some(index) => {
                // Who was served goes to the end of the queue.
                match serve(clients.remove(index)) {
                    Ok(client) => clients.push(client),
                    Err(error) if error.is_closed() => {}
                    Err(error) => eprintln!("a client is dropped: {error}"),
                }
            }
        }
    }
}

/// Waits for a new client (`None`) or for a file of one that is there.
fn ready(service: &decoder::Service, clients: &[Start]) -> Result<Option<usize>, Error> {
    let mut sources: Vec<&dyn Source> = vec![service.service()];
    sources.extend(clients.iter().map(|client| client.endpoint() as &dyn Source));
    Ok(satrap::wait(&sources)?.checked_sub(1))
}

fn serve(client: Start) -> Result<Start, Error> {
    let (file, decoding) = client.recv()?;
    match look_at(file)? {
        Ok(picture) => decoding.send_decoded(&picture),
        Err(reason) => decoding.send_malformed(&reason),
    }
}

/// The outer error is ours or the kernel's; the inner one is the file's.
fn look_at(file: Block) -> Result<Result<Picture, String>, Error> {
    if file.len() < MAP_FROM {
        return Ok(describe(&file.to_vec()?));
    }
    Ok(describe(&file.map()?))
}

fn describe(file: &[u8]) -> Result<Picture, String> {
    let description = image::describe(file).map_err(|rejection| rejection.to_string())?;
    Ok(to_picture(file, description))
}

fn to_picture(file: &[u8], description: Description) -> Picture {
    Picture {
        width: description.width,
        height: description.height,
        color: color_type(description.color),
        bit_depth: description.bit_depth,
        interlaced: description.interlaced,
        // A file comes in one block, which has at most 256 MiB.
        bytes: file.len() as u32,
        digest: blake3::hash(file).as_bytes()[..].into(),
        histogram: description.histogram,
        thumbnail: description.thumbnail.into(),
    }
}

fn color_type(color: png::ColorType) -> ColorType {
    match color {
        png::ColorType::Grayscale => ColorType::Grayscale,
        png::ColorType::Rgb => ColorType::Rgb,
        png::ColorType::Indexed => ColorType::Indexed,
        png::ColorType::GrayscaleAlpha => ColorType::GrayscaleAlpha,
        png::ColorType::Rgba => ColorType::Rgba,
    }
}
