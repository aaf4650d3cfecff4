import { Account, InvalidAmount } from './account';

function main(): void {
  const account = new Account('ann');
  console.log(account.deposit(500).deposit(20).describe());
  try {
    account.deposit(-1);
  } catch (error) {
    if (!(error instanceof InvalidAmount)) throw error;
  }
}

main();
