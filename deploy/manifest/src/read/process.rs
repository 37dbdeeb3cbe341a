//! Reading one `[[process]]`. Ranges and defaults are those that `model` states; what concerns several
//! processes is only marked here, and judged in `check`.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use satrap_abi::limits::{Limits, WASM_PAGE, WINDOW_START};
use satrap_placement::AFFINITY_MAX;
use toml::Spanned;
use toml::de::DeValue;

use super::check::Marks;
use super::fields::{Fields, Text, as_integer, as_string, as_table, legal};
use super::{ARGS_MAX, INSTANCES_MAX, RESTARTS_MAX};
use crate::diagnostic::Report;
use crate::instance::with_instance;
use crate::model::{Channel, Process, Restart};
use crate::name::{Illegal, check_contract, check_identifier, check_path, check_platform};

const AFFINITIES: RangeInclusive<i64> = -(AFFINITY_MAX as i64)..=AFFINITY_MAX as i64;
const RESTARTS: [(&str, Restart); 3] = [
    ("never", Restart::Never),
    ("on-failure", Restart::OnFailure),
    ("always", Restart::Always),
];

/// Reads one process; what was wrong has been reported, and has a default in the result.
pub(crate) fn read(mut fields: Fields<'_>, report: &mut Report<'_>, marks: &mut Marks) -> Process {
    let name = fields.required_name("name", report, check_identifier);
    let mut process = Process::new(name.as_ref().map_or("", |name| &name.text), "");
    marks.process(name.as_ref().map_or(fields.at(), |name| name.at.clone()));
    if let Some(name) = &name {
        fields.call(format!("process `{}`", name.text));
    }
    let program = fields.required_name("program", report, check_program);
    process.program = program.map(|program| program.text).unwrap_or_default();
    process.args = args(&mut fields, report);
    // First of all that uses the number of instances: paths are checked as the last instance has them.
    process.instances = number(
        &mut fields,
        "instances",
        report,
        1..=INSTANCES_MAX,
        process.instances,
    );
    restart(&mut fields, report, &mut process);
    process.registers = registers(&mut fields, report, marks, process.instances);
    process.platforms = platforms(&mut fields, report);
    process.self_affinity = self_affinity(&mut fields, report, &process);
    process.priority = number(
        &mut fields,
        "priority",
        report,
        0..=3,
        u32::from(process.priority),
    ) as u8;
    if let Some(limits) = fields.table("limits", report) {
        process.limits = read_limits(limits, report);
    }
    check_names(&fields, report, &process);
    if let Some(channels) = fields.table("channels", report) {
        process.channels = read_channels(channels, report, marks, process.instances);
    }
    fields.finish(report);
    process
}

/// An integer field with a default.
fn number(
    fields: &mut Fields<'_>,
    key: &'static str,
    report: &mut Report<'_>,
    range: RangeInclusive<u32>,
    default: u32,
) -> u32 {
    let range = i64::from(*range.start())..=i64::from(*range.end());
    let number = fields.integer(key, report, range);
    number
        .and_then(|number| u32::try_from(number).ok())
        .unwrap_or(default)
}

fn check_program(path: &str) -> Result<(), Illegal> {
    match path {
        "" => Err(Illegal("it is empty".to_string())),
        _ if path.ends_with('/') => Err(Illegal("it is a folder".to_string())),
        _ => Ok(()),
    }
}

fn args(fields: &mut Fields<'_>, report: &mut Report<'_>) -> Vec<String> {
    let args = fields.strings("args", report);
    let bytes: usize = args.iter().map(|arg| arg.text.len() + 1).sum();
    if let Some(last) = args.last().filter(|_| bytes > ARGS_MAX) {
        let message = format!("the arguments of {} are too long", fields.what());
        report
            .error(last.at.clone(), message)
            .label(format!("{bytes} bytes, at most {ARGS_MAX}"));
    }
    args.into_iter().map(|arg| arg.text).collect()
}

fn restart(fields: &mut Fields<'_>, report: &mut Report<'_>, process: &mut Process) {
    let restart = fields.choice("restart", report, &RESTARTS);
    // Whoever wrote a wrong `restart` meant some.
    let never = !fields.has("restart") || restart == Some(Restart::Never);
    process.restart = restart.unwrap_or_default();
    process.restart_limit = number(
        fields,
        "restart-limit",
        report,
        1..=RESTARTS_MAX,
        process.restart_limit,
    );
    if never && let Some(at) = fields.key_at("restart-limit") {
        report
            .warning(at, "`restart-limit` has no effect without `restart`")
            .help("add `restart = \"on-failure\"` or `restart = \"always\"`");
    }
}

fn registers(
    fields: &mut Fields<'_>,
    report: &mut Report<'_>,
    marks: &mut Marks,
    instances: u32,
) -> Vec<String> {
    let paths = fields.strings("registers", report);
    let paths: Vec<Text> = paths
        .into_iter()
        .filter_map(|path| {
            legal(path, "path in `registers`", report, |path| {
                check_own_path(path, instances)
            })
        })
        .collect();
    paths.iter().for_each(|path| marks.register(path));
    paths.into_iter().map(|path| path.text).collect()
}

/// The kernel would refuse what is above the limit, so it is better said now.
fn check_names(fields: &Fields<'_>, report: &mut Report<'_>, process: &Process) {
    let (registers, limit) = (process.registers.len(), process.limits.names);
    if let Some(at) = fields.key_at("registers").filter(|_| registers > limit as usize) {
        report
            .error(
                at,
                format!(
                    "{} registers {registers} paths, and its limit is {limit}",
                    fields.what()
                ),
            )
            .help(format!("set `names = {registers}` in its `[process.limits]`"));
    }
}

/// A path as the last instance, which has the longest number, has it.
fn check_any_path(path: &str, instances: u32) -> Result<(), Illegal> {
    check_path(&with_instance(path, instances - 1))
}

/// A path that a process may serve: not one of the kernels' own.
fn check_own_path(path: &str, instances: u32) -> Result<(), Illegal> {
    check_any_path(path, instances)?;
    match path == "/kernel" || path.starts_with("/kernel/") {
        true => Err(Illegal("`/kernel` belongs to the satellite kernels".to_string())),
        false => Ok(()),
    }
}

fn platforms(fields: &mut Fields<'_>, report: &mut Report<'_>) -> BTreeMap<String, u32> {
    let Some(table) = fields.table("platforms", report) else {
        return BTreeMap::new();
    };
    let mut platforms = BTreeMap::new();
    for (name, value) in table.entries() {
        let what = format!("affinity to platform `{}`", name.text);
        let affinity = as_integer(value, &what, report, 1..=i64::from(AFFINITY_MAX));
        let name = legal(name, "name of a platform", report, check_platform);
        if let (Some(name), Some(Ok(affinity))) = (name, affinity.map(u32::try_from)) {
            platforms.insert(name.text, affinity);
        }
    }
    platforms
}

fn affinity(fields: &mut Fields<'_>, key: &'static str, report: &mut Report<'_>) -> i32 {
    // The range is that of an i32 and less.
    fields
        .integer(key, report, AFFINITIES)
        .map_or(0, |affinity| affinity as i32)
}

fn self_affinity(fields: &mut Fields<'_>, report: &mut Report<'_>, process: &Process) -> i32 {
    let affinity = affinity(fields, "self-affinity", report);
    if affinity != 0
        && process.instances == 1
        && let Some(at) = fields.key_at("self-affinity")
    {
        let message = format!(
            "`self-affinity` counts copies, and {} has one instance",
            fields.what()
        );
        let help = "set `instances`; it also counts copies of the same application started again";
        report.warning(at, message).help(help);
    }
    affinity
}

fn read_limits(mut fields: Fields<'_>, report: &mut Report<'_>) -> Limits {
    let default = Limits::DEFAULT;
    let page = u64::from(WASM_PAGE);
    let limits = Limits {
        memory: fields
            .size("memory", report, page..=u64::from(WINDOW_START))
            .unwrap_or(default.memory),
        threads: number(&mut fields, "threads", report, 1..=1 << 16, default.threads),
        handles: number(&mut fields, "handles", report, 1..=1 << 20, default.handles),
        exchange: fields
            .size("exchange", report, 0..=64 << 30)
            .unwrap_or(default.exchange),
        names: number(&mut fields, "names", report, 0..=4096, default.names),
        // The range is that of a u32 and less.
        stack: fields
            .size("stack", report, page..=64 << 20)
            .map_or(default.stack, |stack| stack as u32),
    };
    fields.finish(report);
    limits
}

fn read_channels(
    fields: Fields<'_>,
    report: &mut Report<'_>,
    marks: &mut Marks,
    instances: u32,
) -> Vec<Channel> {
    let mut channels = Vec::new();
    for (name, value) in fields.entries() {
        let channel = read_channel(&name, value, report, marks, instances);
        let legal = legal(name, "name of a channel", report, check_channel_name);
        channels.extend(legal.and(channel));
    }
    channels
}

fn check_channel_name(name: &str) -> Result<(), Illegal> {
    check_identifier(name)?;
    match name {
        "self" => Err(Illegal(
            "`self` names the process itself in overrides".to_string(),
        )),
        _ => Ok(()),
    }
}

/// A table, or only a path.
fn read_channel(
    name: &Text,
    value: &Spanned<DeValue<'_>>,
    report: &mut Report<'_>,
    marks: &mut Marks,
    instances: u32,
) -> Option<Channel> {
    let what = format!("channel `{}`", name.text);
    let check = |path: &str| check_any_path(path, instances);
    let mut channel = Channel {
        name: name.text.clone(),
        path: String::new(),
        contract: None,
        affinity: 0,
    };
    let path = if value.get_ref().is_str() {
        as_string(value, &what, report).and_then(|path| legal(path, "`path`", report, check))
    } else {
        let mut fields = as_table(value, what, report)?;
        let path = fields.required_name("path", report, check);
        let contract = fields.name("contract", report, check_contract);
        channel.contract = contract.map(|contract| contract.text);
        channel.affinity = affinity(&mut fields, "affinity", report);
        fields.finish(report);
        path
    }?;
    marks.channel(&path);
    channel.path = path.text;
    Some(channel)
}
