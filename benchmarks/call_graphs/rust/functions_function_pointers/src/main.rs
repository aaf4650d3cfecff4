type Command = fn(&str) -> String;

fn add(arg: &str) -> String {
    format!("add {arg}")
}

fn remove(arg: &str) -> String {
    format!("remove {arg}")
}

fn hidden(arg: &str) -> String {
    arg.to_string()
}

static COMMANDS: &[(&str, Command)] = &[("add", add), ("remove", remove)];

fn find(name: &str) -> Option<Command> {
    COMMANDS.iter().find(|(known, _)| *known == name).map(|(_, command)| *command)
}

fn run(command: Command, arg: &str) -> String {
    command(arg)
}

fn main() {
    for name in ["add", "remove"] {
        if let Some(command) = find(name) {
            println!("{}", command("x"));
        }
    }
    let chosen: Command = hidden;
    println!("{} {}", run(add, "y"), chosen("z"));
}
