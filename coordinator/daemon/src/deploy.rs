//! From what a user names, a manifest or a program, to what the executive runs.
//!
//! Everything that can be wrong is found here, before anything is compiled or started.

use crate::{
    api::{ApiError, Source},
    install::Program,
    plan::{AppPlan, ProcessPlan},
};
use satrap_manifest::{Instance, Manifest, Override};
use std::path::Path;

/// Reads a source. Arguments go to the program, or to the manifest's first process; overrides change
/// affinities.
///
/// # Errors
/// The manifest's diagnostics, or what is wrong with the overrides, each with its remedy.
pub fn plan(source: &Source, args: &[String], overrides: &[String]) -> Result<AppPlan, ApiError> {
    let (mut manifest, warnings) = read(source)?;
    if let Some(first) = manifest.processes.first_mut() {
        first.args.extend_from_slice(args);
    }
    change(&mut manifest, overrides)?;
    let application = &manifest.application;
    let process = |instance: Instance| ProcessPlan {
        request: instance.request(&application.name),
        program: match source {
            Source::Manifest { base, .. } => base.join(&instance.process.program),
            Source::Program(path) => path.clone(),
        },
        process: instance.process,
    };
    Ok(AppPlan {
        name: application.name.clone(),
        version: application.version.clone(),
        attached: false,
        processes: manifest.instances().into_iter().map(process).collect(),
        warnings,
    })
}

/// Checks that each program speaks the contracts that its manifest names.
pub fn check_contracts(plan: &AppPlan, programs: &[impl AsRef<Program>]) -> Result<(), ApiError> {
    for (process, program) in plan.processes.iter().zip(programs) {
        let spoken: Vec<&str> = program
            .as_ref()
            .contracts()
            .iter()
            .map(|each| each.name.as_str())
            .collect();
        for channel in &process.process.channels {
            if let Some(wanted) = channel.contract.as_deref()
                && !spoken.contains(&wanted)
            {
                return Err(ApiError::new(
                    422,
                    mismatch(process, &channel.name, wanted, &spoken),
                ));
            }
        }
    }
    Ok(())
}

fn mismatch(process: &ProcessPlan, channel: &str, wanted: &str, spoken: &[&str]) -> String {
    let spoken = match spoken {
        [] => "no contract at all".to_owned(),
        names => names.join(", "),
    };
    format!(
        "channel `{channel}` of `{}` wants {wanted}, but {} speaks {spoken}; correct the manifest's `contract` or \
         build the program with that contract",
        process.process_name(),
        process.program.display()
    )
}

fn read(source: &Source) -> Result<(Manifest, Vec<String>), ApiError> {
    match source {
        Source::Program(path) => Ok((Manifest::single(&file_name(path), &[]), Vec::new())),
        Source::Manifest { text, file, .. } => {
            let parsed =
                Manifest::parse(file, text).map_err(|errors| ApiError::new(422, errors.to_string()))?;
            let warnings = parsed.warnings.iter().map(ToString::to_string).collect();
            Ok((parsed.manifest, warnings))
        }
    }
}

fn change(manifest: &mut Manifest, overrides: &[String]) -> Result<(), ApiError> {
    let parsed: Result<Vec<Override>, _> = overrides.iter().map(|text| text.parse()).collect();
    let parsed =
        parsed.map_err(|error: satrap_manifest::OverrideError| ApiError::new(422, error.to_string()))?;
    manifest.apply(&parsed).map_err(|errors| {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        ApiError::new(422, errors.join("\n"))
    })
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = r#"
        [application]
        name = "png"
        [[process]]
        name = "front"
        program = "front.wasm"
        channels.decoder = { path = "/png/decoder", affinity = 2 }
        [[process]]
        name = "decoder"
        program = "decoder.wasm"
        instances = 2
        restart = "on-failure"
        registers = ["/png/decoder"]
    "#;

    fn source() -> Source {
        Source::Manifest {
            text: MANIFEST.into(),
            file: "png.toml".into(),
            base: "/apps/png".into(),
        }
    }

    fn plan_with(overrides: &[&str]) -> Result<AppPlan, ApiError> {
        let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
        plan(&source(), &["--port".into()], &overrides)
    }

    #[test]
    fn a_manifest_becomes_a_plan_with_absolute_programs_and_instances() {
        let plan = plan_with(&["front.decoder=-3"]).unwrap();
        let names: Vec<&str> = plan.processes.iter().map(ProcessPlan::process_name).collect();
        assert_eq!(names, ["front", "decoder.0", "decoder.1"]);
        assert_eq!(plan.processes[0].program, Path::new("/apps/png/front.wasm"));
        assert_eq!(plan.processes[0].process.args, ["--port"]);
        assert_eq!(plan.processes[0].request.channels[0].affinity, -3);
        assert!(
            plan.processes[0].may_bind("/png/decoder") && !plan.processes[0].may_register("/png/decoder")
        );
    }

    #[test]
    fn a_program_alone_is_unrestricted() {
        let plan = plan(&Source::Program("/x/hello.wasm".into()), &["a".into()], &[]).unwrap();
        assert_eq!((plan.name.as_str(), plan.processes.len()), ("hello", 1));
        assert!(plan.processes[0].may_bind("/anything") && plan.processes[0].may_register("/anything"));
    }

    #[test]
    fn what_is_wrong_is_told_before_anything_runs() {
        assert_eq!(plan_with(&["front.nothing=1"]).unwrap_err().status, 422);
        assert_eq!(plan_with(&["rubbish"]).unwrap_err().status, 422);
        let broken = Source::Manifest {
            text: "[application".into(),
            file: "x.toml".into(),
            base: "/".into(),
        };
        assert!(plan(&broken, &[], &[]).unwrap_err().error.contains("x.toml"));
    }
}
