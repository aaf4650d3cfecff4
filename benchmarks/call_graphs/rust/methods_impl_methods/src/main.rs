struct Account {
    owner: String,
    balance: i64,
}

impl Account {
    fn new(owner: &str) -> Self {
        Account { owner: owner.to_string(), balance: 0 }
    }

    fn deposit(&mut self, amount: i64) -> &mut Self {
        self.check(amount);
        self.balance += amount;
        self
    }

    fn check(&self, amount: i64) {
        assert!(amount > 0);
    }

    fn describe(&self) -> String {
        format!("{}: {}", self.owner, self.balance())
    }

    fn balance(&self) -> i64 {
        self.balance
    }
}

fn main() {
    let mut account = Account::new("ann");
    account.deposit(10).deposit(5);
    println!("{}", account.describe());
    let total = account.balance();
    println!("{total}");
}
