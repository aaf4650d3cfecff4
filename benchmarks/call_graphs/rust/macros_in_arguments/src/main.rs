struct Report {
    lines: Vec<String>,
}

impl Report {
    fn title(&self) -> String {
        heading(self.lines.len())
    }

    fn body(&self) -> String {
        self.lines.join("\n")
    }
}

fn heading(n: usize) -> String {
    format!("{n} lines")
}

fn load() -> Result<Report, String> {
    Ok(Report { lines: vec![String::from("a")] })
}

fn main() {
    let report = load().unwrap_or_else(|_| panic!("{}", heading(0)));
    println!("{}\n{}", report.title(), report.body());
    if cfg!(debug_assertions) {
        eprintln!("{}", load().unwrap().title());
    }
    assert!(matches!(load(), Ok(_)));
}
