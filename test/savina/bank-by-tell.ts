import { defineProtocol, type RefTo, refSchema, type System, Type } from "../../src/index";
import { answered } from "./answered";
import { type BankAnswer, type BankSizes, drawTransfers, INITIAL, review } from "./bank";

const Transfer = Type.Object({ to: refSchema<{ deposit: (amount: number) => void }>(), amount: Type.Number() });
const Account = defineProtocol("account", {
  transfer: { payload: Transfer },
  deposit: { payload: Type.Number() },
  balance: { reply: Type.Number() },
});
const Teller = defineProtocol("teller", { work: {}, settled: {} });

/**
 * A teller tells accounts to transfer money, and hears from whoever settles it: the account that takes the money, or
 * the one that has too little. Nobody waits for anybody, so money may go either way. Which transfers are refused is
 * open; but each is settled, no account is overdrawn, and no money is lost or made.
 */
export async function bankByTell(
  system: System,
  { accounts = 1_000, transactions = 50_000, seed = 1 }: BankSizes = {},
): Promise<BankAnswer> {
  const done = Promise.withResolvers<number>();

  const teller: RefTo<typeof Teller> = system.spawn("teller", Teller, (ctx) => {
    let settled = 0;
    return {
      work() {
        for (const { from, to, amount } of drawTransfers(bank, transactions, seed, "either way")) {
          ctx.tell(from, "transfer", { to, amount });
        }
      },
      settled() {
        settled++;
        if (settled === transactions) done.resolve(settled);
      },
    };
  });

  const bank: RefTo<typeof Account>[] = Array.from({ length: accounts }, (_, number) =>
    system.spawn(`account-${number}`, Account, (ctx) => {
      let balance = INITIAL;
      return {
        transfer({ to, amount }) {
          if (balance < amount) {
            ctx.tell(teller, "settled");
            return;
          }
          balance -= amount;
          ctx.tell(to, "deposit", amount);
        },
        deposit(amount) {
          balance += amount;
          ctx.tell(teller, "settled");
        },
        balance: () => balance,
      };
    }),
  );

  teller.tell("work");
  const settled = await done.promise;
  const balances = await Promise.all(bank.map((account) => account.ask("balance")));
  return { settled, ...review(balances.map(answered)) };
}
