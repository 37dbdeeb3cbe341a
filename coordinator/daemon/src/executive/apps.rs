//! Applications: start, end, and the exit code that a shell sees.
//!
//! An application runs whole or not at all. Neighbour: `processes` places, ends and restarts its members.

use super::{Executive, Member, MemberState};
use crate::{api::Event, install::Program, plan::AppPlan, supervise::Now};
use satrap_abi::control::ToSatellite;
use satrap_placement::Refusal;
use std::{fmt, sync::Arc};

/// Most applications that live, or have somebody who reads their last output, at once.
pub const APPS_MAX: usize = 1024;
/// Ended applications that are remembered after that.
pub const ENDED_MAX: usize = 64;
/// Most processes of one application.
pub const MEMBERS_MAX: usize = 1024;

/// An application.
#[derive(Debug)]
pub struct App {
    /// Its name.
    pub name: String,
    /// Its version, or nothing.
    pub version: String,
    /// Whether somebody waits for it.
    pub attached: bool,
    /// When it was started.
    pub started: Now,
    /// Whether its end was asked for.
    pub ending: bool,
    /// When the last of its processes ended, if none is left.
    pub ended: Option<Now>,
    /// The first exit code of a process that was not 0.
    pub code: Option<i32>,
    /// Its processes, in the manifest's order.
    pub members: Vec<Member>,
}

/// Why an application was not started.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AppRefusal {
    /// Too many live.
    TooMany,
    /// It has too many processes.
    TooLarge,
    /// It has none.
    Empty,
    /// The coordinator is shutting down.
    Stopping,
    /// A service of it is there already.
    Registered {
        /// The process that would register it.
        process: String,
        /// The path.
        path: String,
    },
}

impl fmt::Display for AppRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AppRefusal::TooMany => write!(f, "{APPS_MAX} applications run already; end one"),
            AppRefusal::TooLarge => write!(
                f,
                "an application has at most {MEMBERS_MAX} processes, instances counted"
            ),
            AppRefusal::Empty => f.write_str("the application has no process"),
            AppRefusal::Stopping => f.write_str("the coordinator is shutting down"),
            AppRefusal::Registered { process, path } => write!(
                f,
                "`{process}` registers {path}, which another application serves; end that one first (`satrap ns` and \
                 `satrap ps` show it)"
            ),
        }
    }
}

impl Executive {
    /// Starts an application whose programs are installed, one for each process. Its processes are placed
    /// now, or when the satellites have booted.
    pub fn start_app(
        &mut self,
        now: Now,
        plan: AppPlan,
        programs: Vec<Arc<Program>>,
    ) -> Result<u64, AppRefusal> {
        self.now = now;
        self.admit(&plan)?;
        for program in &programs {
            self.contracts.add(program);
        }
        let id = self.next_app;
        self.next_app += 1;
        for (index, process) in plan.processes.iter().enumerate() {
            self.record
                .open_log((id, index), process.process_name(), plan.attached);
        }
        let members = plan.processes.into_iter().zip(programs);
        let app = App {
            name: plan.name.clone(),
            version: plan.version,
            attached: plan.attached,
            started: now,
            ending: false,
            ended: None,
            code: None,
            members: members
                .map(|(plan, program)| Member::new(plan, program, now))
                .collect(),
        };
        self.apps.insert(id, app);
        self.record.event(Event::AppStarted {
            app: id,
            name: plan.name,
        });
        for warning in plan.warnings {
            self.record.notice_about(id, warning);
        }
        self.place_waiting();
        Ok(id)
    }

    /// Ends an application; one that has ended already stays as it is.
    ///
    /// # Errors
    /// There is no such application.
    pub fn end_app(&mut self, now: Now, id: u64) -> Result<(), String> {
        self.now = now;
        let Some(app) = self.apps.get(&id) else {
            return Err(format!("there is no application {id}; `satrap ps` lists them"));
        };
        if app.ended.is_some() {
            return Ok(());
        }
        // To whoever waits for it, an application that was ended did not succeed.
        self.note_exit_code(id, 137);
        self.end_members(id);
        Ok(())
    }

    /// An application by id.
    pub fn app(&self, id: u64) -> Option<&App> {
        self.apps.get(&id)
    }

    /// Nobody waits for an application any more: once it has ended it may be forgotten.
    pub fn detach(&mut self, id: u64) {
        self.record.detach_logs(id);
        if let Some(app) = self.apps.get_mut(&id) {
            app.attached = false;
            self.forget_oldest();
        }
    }

    /// One of its processes can go nowhere: an application runs whole or not at all.
    pub(super) fn unplaceable(&mut self, id: u64, refusals: &[Refusal]) {
        let reasons: Vec<String> = refusals.iter().map(ToString::to_string).collect();
        for reason in &reasons {
            self.record.notice_about(id, reason);
        }
        let reason = reasons.join("; ");
        self.note_exit_code(id, 126);
        if let Some(app) = self.apps.get_mut(&id) {
            for member in &mut app.members {
                if matches!(member.state, MemberState::Waiting(_)) {
                    member.placement.clone_from(&reason);
                }
            }
        }
        self.end_members(id);
    }

    pub(super) fn note_exit_code(&mut self, id: u64, code: i32) {
        if let Some(app) = self.apps.get_mut(&id)
            && code != 0
        {
            app.code.get_or_insert(code);
        }
    }

    /// Ends one process for good, however far it has come.
    pub(super) fn end_member(&mut self, id: u64, index: usize) {
        let Some(member) = self.apps.get_mut(&id).and_then(|app| app.members.get_mut(index)) else {
            return;
        };
        match (member.state, member.kernel, member.process) {
            (MemberState::Starting | MemberState::Running, Some(life), Some(process)) => {
                member.state = MemberState::Ending;
                self.send(life, ToSatellite::Kill(process));
            }
            (MemberState::Ending | MemberState::Exited, ..) => {}
            (_, _, process) => {
                member.state = MemberState::Exited;
                if let Some(process) = process {
                    self.processes.remove(&process);
                }
            }
        }
    }

    /// Finds out whether an application has ended, or has lost its reason to run.
    pub(super) fn settle(&mut self, id: u64) {
        let Some(app) = self.apps.get_mut(&id).filter(|app| app.ended.is_none()) else {
            return;
        };
        if app
            .members
            .iter()
            .all(|member| member.state == MemberState::Exited)
        {
            app.ended = Some(self.now);
            let code = app.code.unwrap_or(0);
            self.record.event(Event::AppEnded { app: id, code });
            self.forget_oldest();
        } else if !app.ending && app.attached && app.has_no_client_left() {
            self.end_members(id);
        }
    }

    fn end_members(&mut self, id: u64) {
        let Some(app) = self.apps.get_mut(&id) else {
            return;
        };
        app.ending = true;
        for index in 0..app.members.len() {
            self.end_member(id, index);
        }
        self.settle(id);
    }

    fn admit(&self, plan: &AppPlan) -> Result<(), AppRefusal> {
        if self.stopping.is_some() {
            return Err(AppRefusal::Stopping);
        }
        if plan.processes.is_empty() {
            return Err(AppRefusal::Empty);
        }
        if plan.processes.len() > MEMBERS_MAX {
            return Err(AppRefusal::TooLarge);
        }
        let counts = |app: &&App| app.ended.is_none() || app.attached;
        if self.apps.values().filter(counts).count() >= APPS_MAX {
            return Err(AppRefusal::TooMany);
        }
        for process in &plan.processes {
            let taken = |path: &&String| self.names.lookup(path).is_some();
            if let Some(path) = process.request.registers.iter().find(taken) {
                return Err(AppRefusal::Registered {
                    process: process.process_name().to_owned(),
                    path: path.clone(),
                });
            }
        }
        Ok(())
    }

    /// Those that ended first go first, whenever they were started. One whose output somebody reads stays until
    /// its reader has seen the end.
    fn forget_oldest(&mut self) {
        let ended = |(id, app): (&u64, &App)| app.ended.filter(|_| !app.attached).map(|ended| (ended, *id));
        let mut ended: Vec<(Now, u64)> = self.apps.iter().filter_map(ended).collect();
        ended.sort_unstable();
        for (_, id) in ended.iter().take(ended.len().saturating_sub(ENDED_MAX)) {
            self.apps.remove(id);
            self.record.close_logs(*id);
        }
    }
}

impl App {
    /// Once it has ended, the first exit code of a process that was not 0, else 0.
    pub fn exit_code(&self) -> Option<i32> {
        self.ended.map(|_| self.code.unwrap_or(0))
    }

    /// Whether it had processes that serve nobody, and all of them have ended: its services have nobody left
    /// to work for.
    fn has_no_client_left(&self) -> bool {
        let mut clients = self
            .members
            .iter()
            .filter(|member| member.plan.request.registers.is_empty())
            .peekable();
        clients.peek().is_some() && clients.all(|member| member.state == MemberState::Exited)
    }
}
