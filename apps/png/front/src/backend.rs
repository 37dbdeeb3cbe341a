//! What stands behind the front end: the decoder and the store, each bound when it is first needed, and again
//! after it has died and was restarted.

use std::time::Duration;

use satrap::{Block, Error, time};

use crate::answers;
use crate::http::Response;
use crate::png::decoder::client::DecodingReply;
use crate::png::store::client::FindingReply;
use crate::png::types::Picture;
use crate::png::{decoder, store};
use crate::serve::Service;
use crate::{SharedStats, stats};

const PAGE: &str = include_str!("page.html");

/// How many pictures `GET /recent` lists.
const RECENT: u32 = 50;

/// How long a request waits for a service that is not there.
const PATIENCE: Duration = Duration::from_secs(2);

/// One connection's channels.
pub struct Backend {
    decoder: Option<decoder::Client>,
    store: Option<store::Client>,
    stats: SharedStats,
}

/// The channel in `slot`, bound anew if there is none.
fn bound<T>(slot: &mut Option<T>, bind: impl FnOnce(u64) -> Result<T, Error>) -> Result<&mut T, Error> {
    let channel = match slot.take() {
        Some(channel) => channel,
        None => bind(time::after(PATIENCE))?,
    };
    Ok(slot.insert(channel))
}

impl Backend {
    pub fn new(stats: SharedStats) -> Backend {
        Backend {
            decoder: None,
            store: None,
            stats,
        }
    }

    /// Asks the decoder. A channel that failed is given up, and the next request binds again.
    fn ask_decoder(&mut self, file: Block) -> Result<DecodingReply, Error> {
        let channel = bound(&mut self.decoder, |deadline| {
            decoder::Client::bind_until("decoder", deadline)
        });
        let reply = channel.and_then(|decoder| decoder.decode(file));
        if reply.is_err() {
            self.decoder = None;
        }
        reply
    }

    /// Asks the store; gives up a channel that failed, as above.
    fn ask_store<T>(&mut self, ask: impl FnOnce(&mut store::Client) -> Result<T, Error>) -> Result<T, Error> {
        let channel = bound(&mut self.store, |deadline| {
            store::Client::bind_until("store", deadline)
        });
        let reply = channel.and_then(ask);
        if reply.is_err() {
            self.store = None;
        }
        reply
    }

    /// The answer for a decoded picture. If the store is away the picture is answered for all the same, only
    /// without a number.
    fn describe(&mut self, picture: Picture, began: time::Instant) -> Result<Response, Error> {
        let id = self.ask_store(|store| store.keep(&picture)).ok();
        let bytes = picture.bytes;
        let latency = began.elapsed();
        let answer = answers::picture(id, picture, Some(latency))?;
        stats::lock(&self.stats).decoded(bytes.into(), latency);
        Ok(Response::json(&answer))
    }

    fn recent(&mut self) -> Response {
        let listed = self.ask_store(|store| store.recent(RECENT));
        answer_or_503(
            "store",
            listed
                .and_then(answers::entries)
                .map(|answer| Response::json(&answer)),
        )
    }

    fn find(&mut self, id: &str) -> Response {
        let Ok(id) = id.parse() else {
            return Response::error(404, "a picture's id is a number");
        };
        let found = self.ask_store(|store| store.find(id));
        let response = found.and_then(|reply| match reply {
            FindingReply::Found { picture } => {
                Ok(Response::json(&answers::picture(Some(id), picture, None)?))
            }
            FindingReply::Unknown => Ok(Response::error(404, "there is no such picture (any more)")),
        });
        answer_or_503("store", response)
    }
}

/// A service that is not there, or died over the question, may be back soon.
fn answer_or_503(service: &str, response: Result<Response, Error>) -> Response {
    response.unwrap_or_else(|error| Response::error(503, format!("the {service} is not available: {error}")))
}

impl Service<Block> for Backend {
    fn answer(&mut self, path: &str) -> Response {
        match path {
            "/" => Response::html(PAGE),
            "/stats" => Response::json(&stats::lock(&self.stats).to_json()),
            "/recent" => self.recent(),
            _ => match path.strip_prefix("/pictures/") {
                Some(id) => self.find(id),
                None => Response::error(404, "there are /, /stats, /recent, /pictures/ID and POST /decode"),
            },
        }
    }

    fn decode(&mut self, file: Block, _length: u64) -> Response {
        let began = time::now();
        let response = match self.ask_decoder(file) {
            Ok(DecodingReply::Decoded { picture }) => self.describe(picture, began),
            Ok(DecodingReply::Malformed { reason }) => {
                stats::lock(&self.stats).malformed += 1;
                return Response::error(422, reason);
            }
            Err(error) => Err(error),
        };
        if response.is_err() {
            stats::lock(&self.stats).unavailable += 1;
        }
        answer_or_503("decoder", response)
    }
}
