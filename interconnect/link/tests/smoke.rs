use satrap_link::*;
#[test]
fn smoke() {
    let (mut s, mut r) = local_ring(4);
    for i in 0..100u64 {
        assert!(r.is_empty());
        let f: Vec<u64> = (0..(i % 14) + 1).map(|w| i << 8 | w << 32).collect();
        s.send(&f).unwrap();
        assert!(!r.is_empty());
        let got = r.receive().unwrap().unwrap();
        assert_eq!(&got.words()[1..], &f[1..]);
        assert!(r.receive().unwrap().is_none());
        assert!(!s.has_unconsumed());
    }
}
