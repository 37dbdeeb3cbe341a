//! What holds of every artifact: it opens for the holder of the key, and for nobody else after any change.

use super::*;
use alloc::{string::ToString, vec, vec::Vec};

const KEY: Key = [7; 32];

fn sealed() -> Vec<u8> {
    let parts = Parts {
        target: Target::new(Isa::Riscv64, false),
        features: CpuFeatures::NONE,
        source: source_digest(b"wasm"),
        pages_initial: 2,
        pages_max: 16,
        image: &[(1024, b"hello".to_vec()), (70_000, b"world".to_vec())],
        segments: &[vec![], b"passive".to_vec()],
        stack_pointer: true,
        table: false,
        start: false,
        thread: true,
        entry: Entry::SatrapMain,
        trap_offset: 12,
        imports: vec!["exit".to_string()],
        contracts: b"contract",
        native: b"\x7fELF not really",
    };
    seal(parts, &KEY).unwrap()
}

/// The same file with other bytes in place, authenticated again: a faulty coordinator's artifact.
fn resealed(change: impl FnOnce(&mut Header)) -> Result<(), ArtifactError> {
    let file = sealed();
    let mut header = Artifact::parse(&file, &KEY).unwrap().header().clone();
    change(&mut header);
    let encoded = postcard::to_allocvec(&header).unwrap();
    let mut forged = MAGIC.to_vec();
    forged.extend_from_slice(&(encoded.len() as u32).to_le_bytes());
    forged.extend_from_slice(&encoded);
    forged.resize(NATIVE_ALIGN, 0);
    forged.extend_from_slice(&file[NATIVE_ALIGN..file.len() - 32]);
    let mac = blake3::keyed_hash(&KEY, &forged);
    forged.extend_from_slice(mac.as_bytes());
    Artifact::parse(&forged, &KEY).map(|_| ())
}

#[test]
fn an_artifact_opens_as_it_was_sealed() {
    let file = sealed();
    let artifact = Artifact::parse(&file, &KEY).unwrap();
    assert_eq!(artifact.native(), b"\x7fELF not really");
    assert_eq!(artifact.contracts(), b"contract");
    assert_eq!(artifact.segment(0), Some(&b""[..]));
    assert_eq!(artifact.segment(1), Some(&b"passive"[..]));
    assert_eq!(artifact.segment(2), None);
    let image: Vec<_> = artifact.image().collect();
    assert_eq!(image, [(1024, &b"hello"[..]), (70_000, &b"world"[..])]);
    assert_eq!(artifact.header().imports, ["exit"]);
    assert!(
        artifact
            .fits(Target::new(Isa::Riscv64, false), CpuFeatures::NONE)
            .is_ok()
    );
}

#[test]
fn native_code_is_aligned_in_the_file() {
    let file = sealed();
    let native = Artifact::parse(&file, &KEY).unwrap().native();
    assert_eq!(
        (native.as_ptr() as usize - file.as_ptr() as usize) % NATIVE_ALIGN,
        0
    );
}

#[test]
fn every_flipped_bit_is_refused() {
    let mut file = sealed();
    let header_and_tail = (0..400).chain(NATIVE_ALIGN - 8..file.len());
    for byte in header_and_tail {
        for bit in 0..8 {
            file[byte] ^= 1 << bit;
            assert!(Artifact::parse(&file, &KEY).is_err(), "byte {byte} bit {bit}");
            file[byte] ^= 1 << bit;
        }
    }
}

#[test]
fn every_truncation_is_refused() {
    let file = sealed();
    for length in (0..200).chain(NATIVE_ALIGN - 4..file.len()) {
        assert!(Artifact::parse(&file[..length], &KEY).is_err(), "{length} bytes");
    }
}

#[test]
fn another_key_opens_nothing() {
    let error = Artifact::parse(&sealed(), &[8; 32]).unwrap_err();
    assert_eq!(error, ArtifactError::NotAuthentic);
}

#[test]
fn an_authentic_header_is_still_checked() {
    let far = Span {
        offset: u32::MAX,
        length: u32::MAX,
    };
    let field = |name| Err(ArtifactError::Field(name));
    assert_eq!(resealed(|_| ()), Ok(()));
    assert_eq!(resealed(|header| header.native = far), field("native code"));
    assert_eq!(
        resealed(|header| header.contracts = far),
        field("contract section")
    );
    assert_eq!(resealed(|header| header.segments[1] = far), field("data segment"));
    assert_eq!(
        resealed(|header| header.trap_offset = u32::MAX),
        field("trap offset")
    );
    assert_eq!(
        resealed(|header| header.pages_max = u32::MAX),
        field("maximum memory")
    );
    assert_eq!(
        resealed(|header| header.pages_initial = 17),
        field("initial memory")
    );
    assert_eq!(resealed(|header| header.pages_initial = 1), field("memory image"));
    assert_eq!(
        resealed(|header| header.image[0].bytes = far),
        field("memory image")
    );
    assert_eq!(resealed(|header| header.image.reverse()), field("memory image"));
    assert_eq!(
        resealed(|header| header.image[0].address = 69_999),
        field("memory image")
    );
}

#[test]
fn an_authentic_header_that_does_not_decode_is_refused() {
    for length in [0u32, 1, 7, u32::MAX] {
        let mut file = MAGIC.to_vec();
        file.extend_from_slice(&length.to_le_bytes());
        file.extend_from_slice(&[0xff; 64]);
        let mac = blake3::keyed_hash(&KEY, &file);
        file.extend_from_slice(mac.as_bytes());
        assert_eq!(Artifact::parse(&file, &KEY).unwrap_err(), ArtifactError::Header);
    }
}

#[test]
fn an_artifact_for_another_machine_does_not_fit() {
    let file = sealed();
    let artifact = Artifact::parse(&file, &KEY).unwrap();
    let elsewhere = artifact.fits(Target::new(Isa::X86_64, true), CpuFeatures::NONE);
    assert_eq!(
        elsewhere,
        Err(ArtifactError::Target(Target::new(Isa::Riscv64, false)))
    );
}

#[test]
fn a_missing_cpu_feature_is_named() {
    let error = ArtifactError::Features(CpuFeatures::NONE.with(CpuFeature::Avx2).with(CpuFeature::Fma));
    assert_eq!(error.to_string(), "the CPU lacks fma,avx2");
}

#[test]
fn contradicting_parts_are_not_sealed() {
    let parts = Parts {
        target: Target::hosted_here(),
        features: CpuFeatures::NONE,
        source: source_digest(b""),
        pages_initial: 0,
        pages_max: 1,
        image: &[(0, b"x".to_vec())],
        segments: &[],
        stack_pointer: false,
        table: false,
        start: false,
        thread: false,
        entry: Entry::Main,
        trap_offset: 0,
        imports: vec![],
        contracts: b"",
        native: b"x",
    };
    let error = SealError::Invalid(ArtifactError::Field("memory image"));
    assert_eq!(seal(parts, &KEY), Err(error));
}

#[test]
fn triples_lead_back_to_their_targets() {
    for target in Target::ALL {
        assert_eq!(Target::from_triple(target.triple()), Some(target));
    }
}

#[test]
fn cache_names_tell_programs_targets_and_features_apart() {
    let source = source_digest(b"a");
    let mut names: Vec<String> = Target::ALL
        .into_iter()
        .map(|target| cache_name(&source, target, CpuFeatures::NONE))
        .collect();
    let hosted = Target::hosted_here();
    names.push(cache_name(&source_digest(b"b"), hosted, CpuFeatures::NONE));
    names.push(cache_name(
        &source,
        hosted,
        CpuFeatures::NONE.with(CpuFeature::Avx),
    ));
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn kernel_calls_have_distinct_names_and_inserted_ones_come_first() {
    for (index, call) in calls::CALLS.iter().enumerate() {
        assert_eq!(calls::find(call.name), Some(call), "{} twice", call.name);
        assert_eq!(
            call.class == calls::Class::Inserted,
            index < calls::INSERTED,
            "{}",
            call.name
        );
    }
}
