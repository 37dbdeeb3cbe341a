//! From processes of the file to processes that run: copies, and requests for placement.
//! Neighbours: `model` is what the file says; the coordinator starts what comes out here.

use satrap_placement::Request;

use crate::model::{Manifest, Process};

/// Stands for the instance's number in arguments and paths.
const INSTANCE: &str = "{instance}";

/// One process to start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instance {
    /// Unique in the application: `decoder`, or `decoder.0`, `decoder.1`, ... where there are several.
    pub name: String,
    /// Its number, from 0.
    pub number: u32,
    /// What it is a copy of, with `{instance}` replaced.
    pub process: Process,
}

impl Process {
    /// Its copies, in order.
    pub fn instances(&self) -> impl Iterator<Item = Instance> {
        (0..self.instances).map(|number| self.instance(number))
    }

    fn instance(&self, number: u32) -> Instance {
        let name = match self.instances {
            1 => self.name.clone(),
            _ => format!("{}.{number}", self.name),
        };
        let mut process = self.clone();
        if self.unrestricted {
            // Made from a command line, whose arguments are passed on as they are.
            return Instance {
                name,
                number,
                process,
            };
        }
        let channels = process.channels.iter_mut().map(|channel| &mut channel.path);
        for text in process
            .args
            .iter_mut()
            .chain(&mut process.registers)
            .chain(channels)
        {
            *text = with_instance(text, number);
        }
        Instance {
            name,
            number,
            process,
        }
    }
}

/// The text for one instance.
pub(crate) fn with_instance(text: &str, number: u32) -> String {
    text.replace(INSTANCE, &number.to_string())
}

impl Manifest {
    /// Every process to start, in the order of the file; placement chooses the order of starting.
    pub fn instances(&self) -> Vec<Instance> {
        self.processes.iter().flat_map(Process::instances).collect()
    }

    /// What to ask of placement: one request for each of [`Manifest::instances`], in that order.
    pub fn requests(&self) -> Vec<Request> {
        self.instances()
            .iter()
            .map(|instance| instance.request(&self.application.name))
            .collect()
    }
}

impl Instance {
    /// What to ask of placement for this process of the named application.
    pub fn request(&self, application: &str) -> Request {
        let process = &self.process;
        let channels = process.channels.iter().map(|channel| satrap_placement::Channel {
            name: channel.name.clone(),
            path: channel.path.clone(),
            affinity: channel.affinity,
        });
        Request {
            process: self.name.clone(),
            name: process.name.clone(),
            group: format!("{application}/{}", process.name),
            platforms: process.platforms.clone(),
            channels: channels.collect(),
            self_affinity: process.self_affinity,
            registers: process.registers.clone(),
        }
    }
}
