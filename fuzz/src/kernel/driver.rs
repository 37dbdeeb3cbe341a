//! A driver that answers the honest peer's client, and nobody else. Whatever happens to others, it must go on.
//!
//! `mod.rs` asks it when all is over.

use super::{ANSWER, ASK, machine::Machine};
use satrap_kernel::{DriverService, DriverTask, Message, Satellite};
use satrap_table::Table;
use std::sync::Arc;

/// Where it is registered.
pub const PATH: &str = "/honest";

/// The driver. It ends with its client.
pub fn answers(satellite: &Arc<Satellite<Machine>>, contract: &Arc<Table>) -> DriverTask {
    let (satellite, contract) = (satellite.clone(), contract.clone());
    Box::pin(async move {
        let Ok(service) = DriverService::register(&satellite, PATH, contract).await else {
            return;
        };
        let mut client = service.accept().await;
        drop(service);
        while let Ok(message) = client.recv().await {
            if message.tag() == ASK && client.send(Message::new(ANSWER)).await.is_err() {
                return;
            }
        }
    })
}
