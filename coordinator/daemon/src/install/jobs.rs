//! Installing many programs at once: a fixed number of workers takes jobs from one list.
//!
//! The first failure stops the others and is the one that is reported.

use super::{InstallError, Installer, PROGRAM_MAX, Program, StoredArtifact, cache::read_bounded};
use crate::api::{Event, InstallResult, Stage};
use satrap_abi::artifact::Target;
use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::Arc,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

/// How often a silent installation asks whether it is still wanted.
const HEARTBEAT: Duration = Duration::from_millis(100);

struct Job<'a> {
    path: &'a PathBuf,
    wasm: Arc<Vec<u8>>,
    target: Target,
}

enum Report {
    Event(Event),
    Done(usize, Result<StoredArtifact, String>),
}

pub(super) fn run(
    installer: &Installer,
    paths: &[PathBuf],
    targets: &[Target],
    sink: &mut dyn FnMut(Option<Event>) -> bool,
) -> Result<Vec<Arc<Program>>, InstallError> {
    let jobs = jobs(paths, targets)?;
    let artifacts = work_in_parallel(installer, &jobs, sink).map_err(|(job, reason)| InstallError {
        program: jobs[job].path.clone(),
        reason,
    })?;
    let mut programs: BTreeMap<&PathBuf, BTreeMap<Target, StoredArtifact>> = BTreeMap::new();
    for (job, artifact) in jobs.iter().zip(artifacts) {
        programs.entry(job.path).or_default().insert(job.target, artifact);
    }
    let program = |(path, artifacts): (&PathBuf, _)| {
        let path = path.clone();
        Arc::new(Program { path, artifacts })
    };
    let programs: Vec<Arc<Program>> = programs.into_iter().map(program).collect();
    let find = |path: &PathBuf| programs.iter().find(|program| program.path == *path).cloned();
    Ok(paths.iter().filter_map(find).collect())
}

/// One job for each different path and target.
fn jobs<'a>(paths: &'a [PathBuf], targets: &[Target]) -> Result<Vec<Job<'a>>, InstallError> {
    let mut jobs: Vec<Job<'a>> = Vec::new();
    for path in paths {
        if jobs.iter().any(|job| job.path == path) {
            continue;
        }
        let wasm = read_bounded(path, PROGRAM_MAX).map_err(|error| InstallError {
            program: path.clone(),
            reason: format!("cannot read the program: {error}"),
        })?;
        let wasm = Arc::new(wasm);
        jobs.extend(targets.iter().map(|target| Job {
            path,
            wasm: wasm.clone(),
            target: *target,
        }));
    }
    Ok(jobs)
}

/// Does all jobs, or fails with the index of the job that failed first and its reason.
fn work_in_parallel(
    installer: &Installer,
    jobs: &[Job<'_>],
    sink: &mut dyn FnMut(Option<Event>) -> bool,
) -> Result<Vec<StoredArtifact>, (usize, String)> {
    let stop = AtomicBool::new(false);
    let next = AtomicUsize::new(0);
    let (reports, inbox) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..installer.parallel.min(jobs.len()) {
            let reports = reports.clone();
            let (stop, next) = (&stop, &next);
            scope.spawn(move || take_jobs(installer, jobs, next, stop, &reports));
        }
        drop(reports);
        collect(jobs.len(), &inbox, &stop, sink)
    })
}

/// One worker. Nobody needs its reports once the inbox is gone.
fn take_jobs(
    installer: &Installer,
    jobs: &[Job<'_>],
    next: &AtomicUsize,
    stop: &AtomicBool,
    reports: &mpsc::Sender<Report>,
) {
    while !stop.load(Ordering::Relaxed) {
        let index = next.fetch_add(1, Ordering::Relaxed);
        let Some(job) = jobs.get(index) else { return };
        let tell = |event| drop(reports.send(Report::Event(event)));
        let result = work(installer, job, (index + 1, jobs.len()), stop, &tell);
        let failed = result.is_err();
        // Reported before the others are stopped, so that the first failure reported is the cause.
        let _ = reports.send(Report::Done(index, result));
        if failed {
            stop.store(true, Ordering::Relaxed);
        }
    }
}

fn collect(
    total: usize,
    inbox: &mpsc::Receiver<Report>,
    stop: &AtomicBool,
    sink: &mut dyn FnMut(Option<Event>) -> bool,
) -> Result<Vec<StoredArtifact>, (usize, String)> {
    let mut done: Vec<Option<StoredArtifact>> = vec![None; total];
    let mut failure = None;
    loop {
        let wanted = match inbox.recv_timeout(HEARTBEAT) {
            Ok(Report::Event(event)) => sink(Some(event)),
            Ok(Report::Done(index, Ok(artifact))) => {
                done[index] = Some(artifact);
                true
            }
            Ok(Report::Done(index, Err(reason))) => {
                failure.get_or_insert((index, reason));
                true
            }
            Err(mpsc::RecvTimeoutError::Timeout) => sink(None),
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
        };
        if !wanted {
            stop.store(true, Ordering::Relaxed);
        }
    }
    if let Some(failure) = failure {
        return Err(failure);
    }
    let missing = done.iter().position(Option::is_none);
    match missing {
        Some(index) => Err((index, "the installation was stopped".into())),
        None => Ok(done.into_iter().flatten().collect()),
    }
}

fn work(
    installer: &Installer,
    job: &Job<'_>,
    (index, total): (usize, usize),
    stop: &AtomicBool,
    tell: &dyn Fn(Event),
) -> Result<StoredArtifact, String> {
    let program = job.path.display().to_string();
    let target = job.target.to_string();
    tell(Event::InstallStarted {
        program: program.clone(),
        target: target.clone(),
        index,
        total,
    });
    let progress = |stage: Stage| {
        tell(Event::InstallProgress {
            program: program.clone(),
            target: target.clone(),
            stage,
            percent: stage.percent(),
        });
    };
    let began = Instant::now();
    let made = installer.artifact(job.path, &job.wasm, job.target, &progress, stop);
    let result = match &made {
        Ok((_, true)) => InstallResult::Cached,
        Ok((_, false)) => InstallResult::Compiled {
            ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        },
        Err(reason) => InstallResult::Failed(reason.clone()),
    };
    tell(Event::InstallFinished {
        program: program.clone(),
        target: target.clone(),
        result,
    });
    made.map(|(artifact, _)| artifact)
}
