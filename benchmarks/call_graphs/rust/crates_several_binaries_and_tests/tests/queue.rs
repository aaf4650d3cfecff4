mod common;

#[test]
fn several_jobs_are_kept() {
    let queue = common::filled(2);
    assert_eq!(queue.len(), 2);
}
