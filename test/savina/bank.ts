import { seededRandom } from "./random";

export interface BankSizes {
  readonly accounts?: number;
  readonly transactions?: number;
  readonly seed?: number;
}

export interface BankAnswer {
  /** Transfers that were paid, or refused because the account held too little. */
  readonly settled: number;
  /** What all accounts hold in the end, less what they held at first. */
  readonly gained: number;
  /** How many accounts hold less than nothing. */
  readonly overdrawn: number;
}

/** What each account holds at first. */
export const INITIAL = 1_000;
/** The most that is transferred at once: often more than is there. */
const MOST = 500;

export interface Transfer<Account> {
  readonly from: Account;
  readonly to: Account;
  readonly amount: number;
}

/** Transfers between two accounts each; `upwards` are those from an earlier account to a later one. */
export function drawTransfers<Account>(
  accounts: readonly Account[],
  count: number,
  seed: number,
  direction: "upwards" | "either way",
): Transfer<Account>[] {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => {
    const index = random(accounts.length - 1);
    const one = accounts[index];
    const other = accounts[index + 1 + random(accounts.length - 1 - index)];
    if (one === undefined || other === undefined) throw new RangeError("A transfer needs two accounts.");
    const amount = 1 + random(MOST);
    const isUpwards = direction === "upwards" || random(2) === 0;
    return isUpwards ? { from: one, to: other, amount } : { from: other, to: one, amount };
  });
}

/** What all balances say. */
export function review(balances: readonly number[]): Pick<BankAnswer, "gained" | "overdrawn"> {
  const total = balances.reduce((sum, balance) => sum + balance, 0);
  return { gained: total - balances.length * INITIAL, overdrawn: balances.filter((balance) => balance < 0).length };
}
