//! A whole satellite kernel under attack, through its public surface alone: a guest that asks for anything, a peer
//! that sends anything, and beside them an honest peer that must notice neither.
//!
//! `machine.rs` is what it stands on, `guest.rs` the guest, `wire.rs` the links; `peer.rs` and `calls.rs` beside
//! this folder are the two attackers.

mod driver;
pub mod guest;
mod machine;
pub mod wire;

use guest::{Act, Any};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use machine::Machine;
use satrap_abi::{
    ChannelId, Digest, KernelId, ProcessId, Slot,
    control::{ProcessSpec, ToSatellite},
    limits::Limits,
};
use satrap_kernel::{Executor, Satellite, Step};
use satrap_region::Region;
use satrap_table::{BufferRule, MessageRule, Side, Spec, StateSpec, Table, TransitionSpec};
use std::sync::Arc;
use wire::{Forged, Frame, Wire};

/// The peer that lies.
const HOSTILE: KernelId = KernelId(2);
/// The peer that does not.
const HONEST: KernelId = KernelId(3);

/// Messages of the contract that all channels have: the client sends items and pictures as it likes, or asks, and
/// then the service answers.
const ITEM: u16 = 0;
const PICTURE: u16 = 1;
const ASK: u16 = 2;
const ANSWER: u16 = 3;

/// The exchange heap.
const HEAP: usize = 1 << 20;
/// Most moves of one run.
const MOVES: usize = 128;
/// Steps in which the kernel must come to an end, whatever was done to it.
const PATIENCE: usize = 10_000;

/// What happens next.
#[derive(Arbitrary, Debug)]
pub enum Move {
    /// The hostile peer sends a frame.
    Frame(Forged),
    /// A client of that peer comes to the guest's service.
    Connect(u8),
    /// The guest does something.
    Guest(Any),
}

/// The kernel, its guest, and its two peers.
pub struct World {
    satellite: Arc<Satellite<Machine>>,
    machine: Arc<Machine>,
    executor: Executor<Machine>,
    hostile: Arc<Wire>,
    honest: Arc<Wire>,
}

impl World {
    /// A kernel that runs a guest with every kind of handle. The hostile peer has channels to it, and blocks and a
    /// pool of it on loan.
    pub fn new() -> World {
        let machine = Machine::new();
        let satellite = Satellite::new(machine.clone(), KernelId(1), Region::from_heap(HEAP));
        machine.serve(&satellite);
        let contract = satellite.learn(contract());
        let [hostile, honest] = [HOSTILE, HONEST].map(|peer| {
            let (wire, parts) = Wire::new(peer, &contract);
            satellite.link_up(parts);
            wire
        });
        let mut world = World {
            executor: Executor::new(satellite.clone(), 0),
            satellite,
            machine,
            hostile,
            honest,
        };
        world
            .satellite
            .spawn_task(driver::answers(&world.satellite, &contract));
        world.steps(4);
        world.connect(driver::PATH, HONEST, wire::HONEST_CHANNEL);
        world.spawn(contract.digest());
        world
    }

    fn spawn(&mut self, contract: Digest) {
        let artifact = Digest([7; 32]);
        self.satellite
            .load(artifact, &[])
            .expect("the engine takes anything");
        self.satellite.control(ToSatellite::Spawn(ProcessSpec {
            process: ProcessId(1),
            name: "guest".into(),
            artifact,
            args: vec!["guest".into()],
            limits: Limits {
                threads: 4,
                handles: 64,
                exchange: HEAP as u64 / 4,
                ..Limits::DEFAULT
            },
            channels: Vec::new(),
            registers: Vec::new(),
            unrestricted: true,
            priority: 1,
        }));
        self.act(Act::Prepare(contract));
        self.connect(guest::SERVICE, HOSTILE, wire::SERVED_CHANNEL);
        self.act(Act::Equip);
    }

    /// Plays moves of the attackers, and then sees to it that they did no harm.
    pub fn play(mut self, moves: impl Iterator<Item = Move>) {
        for each in moves.take(MOVES) {
            match each {
                Move::Frame(forged) => {
                    let ends = self.machine.ends(HOSTILE);
                    self.hostile.put(self.hostile.forge(&forged, &ends));
                    self.steps(2);
                }
                Move::Connect(index) => self.connect(guest::SERVICE, HOSTILE, channel(index.into())),
                Move::Guest(any) => self.act(Act::Any(any)),
            }
            self.judge();
        }
        self.end();
    }

    /// A peer that has sent what no correct kernel sends has lost its link.
    fn judge(&self) {
        if self.machine.has_failed(HOSTILE) {
            self.hostile.cut();
        } else {
            assert!(!self.hostile.is_wrong(), "a wrong frame was let pass");
        }
    }

    /// The coordinator brings a client of a peer to a service.
    fn connect(&mut self, path: &str, peer: KernelId, channel: ChannelId) {
        self.machine.connect(path, peer, channel);
        self.steps(4);
    }

    /// The guest does something.
    fn act(&mut self, act: Act) {
        self.machine.script(act);
        self.steps(4);
    }

    /// Lets the kernel run.
    fn steps(&mut self, count: usize) {
        for _ in 0..count {
            self.machine.answer();
            self.executor.step();
        }
        self.machine.answer();
    }

    /// What was done must not have reached the honest peer, and nothing may stay behind.
    fn end(mut self) {
        assert!(
            !self.machine.has_failed(HONEST),
            "the honest peer's link was reset"
        );
        let own = self.machine.ends(HONEST)[0];
        self.honest.put(Frame::asking(own));
        self.steps(64);
        assert!(
            self.honest.was_answered(),
            "the honest peer's client gets no answer"
        );
        for peer in [HOSTILE, HONEST] {
            self.satellite.link_down(peer, 1);
        }
        self.act(Act::Mourn);
        self.satellite.shut_down();
        let stopped = (0..PATIENCE).any(|_| {
            self.machine.answer();
            self.executor.step() == Step::Stopped
        });
        assert!(stopped, "the kernel does not come to an end");
        assert_eq!(self.satellite.heap().used(), 0, "exchange heap that nobody owns");
        self.machine.forget();
    }
}

/// The contract of every channel.
fn contract() -> Table {
    let plain = MessageRule {
        inline_max: 64,
        ..MessageRule::EMPTY
    };
    let item = MessageRule {
        blocks_max: 2,
        endpoints_max: 2,
        ..plain
    };
    let picture = MessageRule {
        buffer: BufferRule::Required,
        ..plain
    };
    let next = |tag, next| TransitionSpec { tag, next };
    let spec = Spec {
        name: "fuzz:kernel/any@1.0.0".into(),
        text_digest: Digest([0; 32]),
        rules: vec![item, picture, plain, plain],
        states: vec![
            StateSpec {
                sender: Side::Client,
                transitions: vec![next(ITEM, 0), next(PICTURE, 0), next(ASK, 1)],
            },
            StateSpec {
                sender: Side::Service,
                transitions: vec![next(ANSWER, 0)],
            },
        ],
    };
    let bytes = spec.encode().expect("it is a contract");
    Table::parse(&bytes).expect("it was encoded just now")
}

/// A channel of a peer.
pub const fn channel(index: u32) -> ChannelId {
    ChannelId(Slot { index, generation: 1 })
}
