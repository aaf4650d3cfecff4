package main

import "fmt"

type Account struct {
	owner   string
	balance int
}

func (a *Account) Deposit(amount int) {
	a.check(amount)
	a.balance += amount
}

func (a *Account) check(amount int) {
	if amount < 0 {
		panic("negative")
	}
}

func (a Account) String() string {
	return fmt.Sprintf("%s: %d", a.owner, a.Balance())
}

func (a Account) Balance() int { return a.balance }

func main() {
	account := Account{owner: "ann"}
	account.Deposit(10)
	other := &Account{owner: "bob"}
	other.Deposit(5)
	fmt.Println(account.String(), other.Balance())
}
