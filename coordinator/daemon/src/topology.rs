//! What the machine offers: the cores that we may use, their NUMA nodes, and how satellites share them.
//!
//! Reading is apart from deciding: [`Machine::discover`] asks Linux, [`Machine::divide`] is pure.

use std::{collections::BTreeMap, fs, io, path::Path};

/// The cores that this process may use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Machine {
    /// Allowed CPUs of each NUMA node that has any, ascending.
    nodes: BTreeMap<u32, Vec<u32>>,
}

/// What one satellite gets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CoreSet {
    /// Its CPUs, ascending; never empty.
    pub cpus: Vec<u32>,
    /// The node of all of them, if it is one.
    pub node: Option<u32>,
}

/// How the machine is divided.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Division {
    /// One for each satellite.
    pub sets: Vec<CoreSet>,
    /// What the operator should know about it.
    pub warning: Option<String>,
}

/// Most satellites that one coordinator starts: each has a link to each other.
pub const SATELLITES_MAX: usize = 64;

impl Machine {
    /// A machine of the given nodes. Nodes without CPUs are left out.
    pub fn new(nodes: BTreeMap<u32, Vec<u32>>) -> Machine {
        let nodes = nodes.into_iter().filter(|(_, cpus)| !cpus.is_empty()).collect();
        Machine { nodes }
    }

    /// Asks Linux: scheduling affinity (which a cgroup's cpuset narrows), the cgroup's CPU quota, and the NUMA
    /// nodes.
    pub fn discover() -> io::Result<Machine> {
        let affinity = rustix::thread::sched_getaffinity(None)?;
        let mut allowed: Vec<u32> = (0..rustix::thread::CpuSet::MAX_CPU)
            .filter(|cpu| affinity.is_set(*cpu))
            .map(|cpu| cpu as u32)
            .collect();
        if let Some(quota) = cgroup_quota() {
            allowed.truncate(quota.max(1));
        }
        let mut nodes = numa_nodes(Path::new("/sys/devices/system/node"));
        for cpus in nodes.values_mut() {
            cpus.retain(|cpu| allowed.contains(cpu));
        }
        let known: Vec<u32> = nodes.values().flatten().copied().collect();
        let unknown = allowed.iter().filter(|cpu| !known.contains(cpu));
        nodes.entry(0).or_default().extend(unknown);
        Ok(Machine::new(nodes))
    }

    /// How many CPUs there are.
    pub fn cpus(&self) -> usize {
        self.nodes.values().map(Vec::len).sum()
    }

    /// One satellite for each node, or `count` satellites of even size that keep to a node where they can.
    /// More satellites than cores share cores.
    pub fn divide(&self, count: Option<usize>) -> Division {
        let sets = match count {
            None => self.nodes.values().cloned().collect(),
            Some(count) => self.split(count.clamp(1, SATELLITES_MAX)),
        };
        let shared = sets.len() > self.cpus();
        Division {
            warning: shared.then(|| {
                format!(
                    "{} satellites share {} core(s): each runs slower, and polling is costly; ask for at most \
                     --satellites {}",
                    sets.len(),
                    self.cpus(),
                    self.cpus()
                )
            }),
            sets: sets.into_iter().map(|cpus| self.core_set(cpus)).collect(),
        }
    }

    /// Contiguous parts of the cores in node order; sizes differ by one at most.
    fn split(&self, count: usize) -> Vec<Vec<u32>> {
        let cpus: Vec<u32> = self.nodes.values().flatten().copied().collect();
        if count > cpus.len() {
            return (0..count)
                .map(|satellite| vec![cpus[satellite % cpus.len()]])
                .collect();
        }
        let bound = |satellite: usize| satellite * cpus.len() / count;
        (0..count)
            .map(|satellite| cpus[bound(satellite)..bound(satellite + 1)].to_vec())
            .collect()
    }

    fn core_set(&self, cpus: Vec<u32>) -> CoreSet {
        let whole =
            |(node, own): (&u32, &Vec<u32>)| cpus.iter().all(|cpu| own.contains(cpu)).then_some(*node);
        CoreSet {
            node: self.nodes.iter().find_map(whole),
            cpus,
        }
    }
}

fn numa_nodes(folder: &Path) -> BTreeMap<u32, Vec<u32>> {
    let read = |entry: fs::DirEntry| {
        let node = entry.file_name().to_str()?.strip_prefix("node")?.parse().ok()?;
        let list = fs::read_to_string(entry.path().join("cpulist")).ok()?;
        Some((node, parse_cpu_list(&list)))
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(read).collect()
}

/// Reads `0-3,8,10-11`. What is not understood is left out; ranges end at 65535.
fn parse_cpu_list(text: &str) -> Vec<u32> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let first: u32 = first.trim().parse().ok()?;
        let last: u32 = last.trim().parse().ok()?;
        Some(first..=last.min(65535))
    };
    text.trim().split(',').filter_map(range).flatten().collect()
}

/// Whole CPUs that our cgroup's `cpu.max` allows, rounded up; none if there is no quota.
fn cgroup_quota() -> Option<usize> {
    let own = fs::read_to_string("/proc/self/cgroup").ok()?;
    let path = own.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let root = Path::new("/sys/fs/cgroup");
    let folder = root.join(path);
    let folders = folder.ancestors().take_while(|folder| folder.starts_with(root));
    folders
        .filter_map(|folder| parse_quota(&fs::read_to_string(folder.join("cpu.max")).ok()?))
        .min()
}

/// Reads `150000 100000` (µs in each period) or `max 100000`.
fn parse_quota(text: &str) -> Option<usize> {
    let (quota, period) = text.trim().split_once(' ')?;
    let quota: u64 = quota.parse().ok()?;
    let period: u64 = period.parse().ok().filter(|period| *period > 0)?;
    usize::try_from(quota.div_ceil(period)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(nodes: &[&[u32]]) -> Machine {
        Machine::new((0..).zip(nodes.iter().map(|cpus| cpus.to_vec())).collect())
    }

    fn cpus(division: &Division) -> Vec<Vec<u32>> {
        division.sets.iter().map(|set| set.cpus.clone()).collect()
    }

    #[test]
    fn this_machine_has_at_least_one_core() {
        assert!(Machine::discover().unwrap().cpus() >= 1);
    }

    #[test]
    fn the_default_is_a_satellite_for_each_node_with_cores() {
        let division = machine(&[&[0, 1], &[], &[2, 3]]).divide(None);
        assert_eq!(cpus(&division), [[0, 1], [2, 3]]);
        assert_eq!(division.sets[1].node, Some(2));
        assert_eq!(division.warning, None);
    }

    #[test]
    fn cores_are_split_evenly() {
        let division = machine(&[&[0, 1, 2], &[3, 4]]).divide(Some(2));
        assert_eq!(cpus(&division), [vec![0, 1], vec![2, 3, 4]]);
        assert_eq!(division.sets[0].node, Some(0));
        assert_eq!(division.sets[1].node, None);
    }

    #[test]
    fn more_satellites_than_cores_share_them_with_a_warning() {
        let division = machine(&[&[4, 7]]).divide(Some(3));
        assert_eq!(cpus(&division), [[4], [7], [4]]);
        assert!(division.warning.unwrap().contains("at most --satellites 2"));
    }

    #[test]
    fn lists_and_quotas_are_read_as_linux_writes_them() {
        assert_eq!(parse_cpu_list("0-2,8,10-11\n"), [0, 1, 2, 8, 10, 11]);
        assert_eq!(parse_cpu_list("\n"), [0u32; 0]);
        assert_eq!(parse_quota("150000 100000\n"), Some(2));
        assert_eq!(parse_quota("max 100000\n"), None);
    }
}
