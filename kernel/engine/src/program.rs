//! A loaded program: its code, its memory image, and what a thread must know to enter it.
//!
//! All that can be found out at load is found out here, so that starting a thread looks nothing up.
//! `engine.rs` makes programs; `thread.rs` enters them.

use crate::code::Registration;
use crate::machine::{Image, machine};
use crate::memory::ProcessMemory;
use crate::thread::State;
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use satrap_abi::Errno;
use satrap_abi::artifact::engine::MEMORY_RESERVATION;
use satrap_abi::artifact::{Artifact, Entry, export};
use satrap_abi::limits::WASM_PAGE;
use satrap_kernel::engine::{Calls, LinearMemory};
use wasmtime::{InstancePre, Linker, Module, ModuleExport};

/// Image ranges nearer to each other than this are mapped at once, with the zeroes between them.
const IMAGE_GAP: u64 = 64 << 10;

/// A loaded program.
pub struct Program<C>(pub(crate) Arc<Loaded<C>>);

impl<C> Clone for Program<C> {
    fn clone(&self) -> Program<C> {
        Program(self.0.clone())
    }
}

pub(crate) struct Loaded<C> {
    /// First, so that it goes before the code does.
    _code: Registration,
    pub(crate) instance: InstancePre<State<C>>,
    pub(crate) exports: Exports,
    pub(crate) entry: Entry,
    /// Address of an instruction that traps.
    pub(crate) trap_pc: usize,
    images: Vec<PlacedImage>,
    pages_initial: u32,
    pages_max: u32,
    contracts: Box<[u8]>,
    segments: Vec<Box<[u8]>>,
}

/// Where the exports are that a thread uses.
pub(crate) struct Exports {
    pub(crate) entry: Option<ModuleExport>,
    pub(crate) start: Option<ModuleExport>,
    pub(crate) thread: Option<ModuleExport>,
    pub(crate) stack: Option<ModuleExport>,
}

struct PlacedImage {
    address: u64,
    bytes: usize,
    image: Image,
}

impl Drop for PlacedImage {
    fn drop(&mut self) {
        machine().drop_image(self.image);
    }
}

impl<C: Calls> Loaded<C> {
    pub(crate) fn new(linker: &Linker<State<C>>, artifact: &Artifact<'_>) -> Result<Loaded<C>, Errno> {
        let header = artifact.header();
        // SAFETY: the artifact is authentic, so these are bytes that the coordinator's compiler made.
        let module = unsafe { Module::deserialize(linker.engine(), artifact.native()) };
        let module = module.map_err(|_| Errno::Unsupported)?;
        let instance = linker.instantiate_pre(&module).map_err(|_| Errno::Unsupported)?;
        let text = module.text().as_ptr_range();
        let (start, end) = (text.start.addr(), text.end.addr());
        let bodies = module.functions().map(|function| (function.offset, function.len));
        Ok(Loaded {
            _code: Registration::new(start..end, bodies),
            exports: Exports {
                entry: module.get_export_index(header.entry.name()),
                start: module.get_export_index(export::START),
                thread: module.get_export_index(export::THREAD),
                stack: module.get_export_index(export::STACK),
            },
            entry: header.entry,
            trap_pc: start + header.trap_offset as usize,
            images: images(artifact)?,
            pages_initial: header.pages_initial,
            pages_max: header.pages_max,
            contracts: artifact.contracts().into(),
            segments: (0..header.segments.len())
                .map_while(|index| artifact.segment(index as u32))
                .map(Box::from)
                .collect(),
            instance,
        })
    }

    /// A memory as the program finds it at its start.
    pub(crate) fn memory(&self) -> Result<ProcessMemory, Errno> {
        let memory = ProcessMemory::new()?;
        if self.pages_initial > 0 {
            memory.commit(u64::from(self.pages_initial) * u64::from(WASM_PAGE))?;
        }
        for placed in &self.images {
            let at = memory.pages(placed.address, placed.bytes as u64, MEMORY_RESERVATION)?;
            // SAFETY: within the memory's reservation, which nobody else has seen yet.
            unsafe { machine().map_image(placed.image, at, placed.bytes) }?;
        }
        Ok(memory)
    }
}

/// The memory image in whole pages: few of them, and no page in two. Linear memory's own pages are 64 KiB, so
/// rounding up never leaves the initial memory.
fn images(artifact: &Artifact<'_>) -> Result<Vec<PlacedImage>, Errno> {
    let page = machine().page_size() as u64;
    let mut images = Vec::new();
    let mut chunk: Option<(u64, Vec<u8>)> = None;
    for (address, bytes) in artifact.image().filter(|(_, bytes)| !bytes.is_empty()) {
        let address = u64::from(address);
        let (start, contents) = match chunk.take() {
            Some((start, contents)) if address <= start + contents.len() as u64 + IMAGE_GAP => {
                (start, contents)
            }
            other => {
                images.extend(other.map(place).transpose()?);
                (address - address % page, Vec::new())
            }
        };
        let contents = extend(contents, (address - start) as usize, bytes);
        chunk = Some((start, contents));
    }
    images.extend(chunk.map(place).transpose()?);
    Ok(images)
}

/// Puts `bytes` at `offset`, with zeroes before.
fn extend(mut contents: Vec<u8>, offset: usize, bytes: &[u8]) -> Vec<u8> {
    contents.resize(offset, 0);
    contents.extend_from_slice(bytes);
    contents
}

fn place((address, mut contents): (u64, Vec<u8>)) -> Result<PlacedImage, Errno> {
    contents.resize(contents.len().next_multiple_of(machine().page_size()), 0);
    Ok(PlacedImage {
        address,
        bytes: contents.len(),
        image: machine().image(&contents)?,
    })
}

impl<C: Calls> satrap_kernel::engine::Program for Program<C> {
    fn initial_pages(&self) -> u32 {
        self.0.pages_initial
    }

    fn maximum_pages(&self) -> Option<u32> {
        Some(self.0.pages_max)
    }

    fn contracts(&self) -> &[u8] {
        &self.0.contracts
    }

    fn segment(&self, index: u32) -> Option<&[u8]> {
        self.0.segments.get(index as usize).map(|segment| &**segment)
    }
}
