//! A call and its HTTP form: `Call::encode` is the client's half, `Call::parse` the server's.
//!
//! A round-trip test keeps the halves together.

use super::{ApiError, InstallRequest, PlaceRequest, RunRequest};
use serde::de::DeserializeOwned;

/// HTTP methods in use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// Ask.
    Get,
    /// Do.
    Post,
    /// End.
    Delete,
}

impl Method {
    /// As it stands in a request line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Delete => "DELETE",
        }
    }

    fn parse(text: &str) -> Option<Method> {
        [Method::Get, Method::Post, Method::Delete]
            .into_iter()
            .find(|method| method.as_str() == text)
    }
}

/// Everything that may be asked of a coordinator.
#[derive(Clone, PartialEq, Debug)]
pub enum Call {
    /// `GET /v1/status`.
    Status,
    /// `GET /v1/kernels`.
    Kernels,
    /// `GET /v1/processes`.
    Processes,
    /// `GET /v1/apps`.
    Apps,
    /// `GET /v1/names?prefix=`.
    Names {
        /// Only names that begin so.
        prefix: String,
    },
    /// `GET /v1/channels`.
    Channels,
    /// `GET /v1/logs?process=&follow=`: a stream of [`Event::Output`](super::Event::Output).
    Logs {
        /// Only of this process, by id, `name`, or `app/name`.
        process: Option<String>,
        /// Whether to go on as more is written.
        follow: bool,
    },
    /// `GET /v1/events`: a stream of [`Event`](super::Event) from now on.
    Events,
    /// `POST /v1/install`: a stream of installation events.
    Install(InstallRequest),
    /// `POST /v1/apps`: a stream of the application's events.
    Run(RunRequest),
    /// `POST /v1/place`: placement, explained and not done.
    Place(PlaceRequest),
    /// `DELETE /v1/apps/ID`.
    EndApp(u64),
    /// `POST /v1/processes/ID/kill`.
    Kill(u64),
    /// `POST /v1/shutdown`.
    Shutdown,
}

impl Call {
    /// Whether its answer is a stream of any length instead of one value.
    pub const fn streams(&self) -> bool {
        matches!(
            self,
            Call::Logs { .. } | Call::Events | Call::Install(_) | Call::Run(_)
        )
    }

    /// Method, target and JSON body of the request.
    pub fn encode(&self) -> Result<(Method, String, Vec<u8>), ApiError> {
        let get = |target: &str| Ok((Method::Get, target.to_owned(), Vec::new()));
        let post = |target: String| Ok((Method::Post, target, Vec::new()));
        match self {
            Call::Status => get("/v1/status"),
            Call::Kernels => get("/v1/kernels"),
            Call::Processes => get("/v1/processes"),
            Call::Apps => get("/v1/apps"),
            Call::Channels => get("/v1/channels"),
            Call::Events => get("/v1/events"),
            Call::Names { prefix } => get(&format!("/v1/names?prefix={}", escape(prefix))),
            Call::Logs { process, follow } => {
                let process = process
                    .as_deref()
                    .map(|name| format!("&process={}", escape(name)));
                get(&format!(
                    "/v1/logs?follow={follow}{}",
                    process.unwrap_or_default()
                ))
            }
            Call::Install(body) => with_body("/v1/install", body),
            Call::Run(body) => with_body("/v1/apps", body),
            Call::Place(body) => with_body("/v1/place", body),
            Call::EndApp(app) => Ok((Method::Delete, format!("/v1/apps/{app}"), Vec::new())),
            Call::Kill(process) => post(format!("/v1/processes/{process}/kill")),
            Call::Shutdown => post("/v1/shutdown".to_owned()),
        }
    }

    /// Reads a request. Errors name what was wrong, with the HTTP status that says so.
    pub fn parse(method: &str, target: &str, body: &[u8]) -> Result<Call, ApiError> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let segments: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        let method = Method::parse(method)
            .ok_or_else(|| ApiError::new(405, format!("the method {method} is not used here")))?;
        match (method, segments.as_slice()) {
            (Method::Get, ["v1", "status"]) => Ok(Call::Status),
            (Method::Get, ["v1", "kernels"]) => Ok(Call::Kernels),
            (Method::Get, ["v1", "processes"]) => Ok(Call::Processes),
            (Method::Get, ["v1", "apps"]) => Ok(Call::Apps),
            (Method::Get, ["v1", "channels"]) => Ok(Call::Channels),
            (Method::Get, ["v1", "events"]) => Ok(Call::Events),
            (Method::Get, ["v1", "names"]) => {
                let prefix = parameter(query, "prefix")?.unwrap_or_default();
                Ok(Call::Names { prefix })
            }
            (Method::Get, ["v1", "logs"]) => Ok(Call::Logs {
                process: parameter(query, "process")?,
                follow: parameter(query, "follow")?.is_some_and(|value| value == "true" || value == "1"),
            }),
            (Method::Post, ["v1", "install"]) => json(body).map(Call::Install),
            (Method::Post, ["v1", "apps"]) => json(body).map(Call::Run),
            (Method::Post, ["v1", "place"]) => json(body).map(Call::Place),
            (Method::Delete, ["v1", "apps", app]) => number(app).map(Call::EndApp),
            (Method::Post, ["v1", "processes", process, "kill"]) => number(process).map(Call::Kill),
            (Method::Post, ["v1", "shutdown"]) => Ok(Call::Shutdown),
            _ => Err(ApiError::new(
                404,
                format!("there is no {} {path}", method.as_str()),
            )),
        }
    }
}

fn with_body<T: serde::Serialize>(target: &str, body: &T) -> Result<(Method, String, Vec<u8>), ApiError> {
    let body = serde_json::to_vec(body).map_err(|error| ApiError::new(400, error.to_string()))?;
    Ok((Method::Post, target.to_owned(), body))
}

fn json<T: DeserializeOwned>(body: &[u8]) -> Result<T, ApiError> {
    serde_json::from_slice(body)
        .map_err(|error| ApiError::new(400, format!("the body is not right: {error}")))
}

fn number(text: &str) -> Result<u64, ApiError> {
    text.parse()
        .map_err(|_| ApiError::new(400, format!("`{text}` is not an id: a decimal number is wanted")))
}

/// Value of the first query parameter of that name, unescaped.
fn parameter(query: &str, name: &str) -> Result<Option<String>, ApiError> {
    query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .find(|(key, _)| *key == name)
        .map(|(_, value)| unescape(value))
        .transpose()
}

fn escape(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte);
    text.bytes()
        .map(|byte| {
            if plain(byte) {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect()
}

fn unescape(text: &str) -> Result<String, ApiError> {
    let wrong = || ApiError::new(400, format!("`{text}` is not percent-encoded UTF-8"));
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let (high, low) = rest.next().zip(rest.next()).ok_or_else(wrong)?;
                let digit = |byte: u8| char::from(byte).to_digit(16).ok_or_else(wrong);
                // Two hexadecimal digits are at most 255.
                (digit(high)? * 16 + digit(low)?) as u8
            }
            b'+' => b' ',
            other => other,
        });
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Source;

    fn survives(call: Call) {
        let (method, target, body) = call.encode().unwrap();
        assert_eq!(Call::parse(method.as_str(), &target, &body), Ok(call));
    }

    #[test]
    fn a_call_survives_its_http_form() {
        survives(Call::Status);
        survives(Call::Names {
            prefix: "/a b/%&=ü".into(),
        });
        survives(Call::Logs {
            process: Some("png/decoder.0".into()),
            follow: true,
        });
        survives(Call::Run(RunRequest {
            source: Source::Program("/x.wasm".into()),
            args: vec!["a".into()],
            overrides: vec!["a.b=1".into()],
            attached: true,
        }));
        survives(Call::EndApp(7));
        survives(Call::Kill(9));
        survives(Call::Shutdown);
    }

    #[test]
    fn a_wrong_request_is_told_what_is_wrong() {
        let status = |method, target, body: &[u8]| Call::parse(method, target, body).unwrap_err().status;
        assert_eq!(status("GET", "/v1/nothing", b""), 404);
        assert_eq!(status("PATCH", "/v1/status", b""), 405);
        assert_eq!(status("POST", "/v1/apps", b"{"), 400);
        assert_eq!(status("DELETE", "/v1/apps/x", b""), 400);
        assert_eq!(status("GET", "/v1/names?prefix=%f", b""), 400);
    }
}
