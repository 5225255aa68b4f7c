import { defineProtocol, refSchema, type System, Type } from "../../src/index";
import { answered } from "./answered";
import { type BankAnswer, type BankSizes, drawTransfers, INITIAL, review } from "./bank";

const Transfer = Type.Object({ to: refSchema<{ deposit: (amount: number) => void }>(), amount: Type.Number() });
const Account = defineProtocol("account", {
  transfer: { payload: Transfer, reply: Type.Boolean() },
  deposit: { payload: Type.Number() },
  balance: { reply: Type.Number() },
});
const Teller = defineProtocol("teller", { work: { reply: Type.Number() } });

/**
 * A teller asks accounts to transfer money; each asks the other account to take it, and answers once that has. Money
 * goes from lower numbers to higher ones only: accounts that asked each other in a circle would wait for each other.
 * Which transfers are refused is open; but each is settled, no account is overdrawn, and no money is lost or made.
 */
export async function bankByAsk(
  system: System,
  { accounts = 1_000, transactions = 20_000, seed = 1 }: BankSizes = {},
): Promise<BankAnswer> {
  const bank = Array.from({ length: accounts }, (_, number) =>
    system.spawn(`account-${number}`, Account, (ctx) => {
      let balance = INITIAL;
      return {
        async transfer({ to, amount }) {
          if (balance < amount) return false;
          balance -= amount;
          answered(await ctx.ask(to, "deposit", amount));
          return true;
        },
        deposit(amount) {
          balance += amount;
        },
        balance: () => balance,
      };
    }),
  );

  const teller = system.spawn("teller", Teller, (ctx) => ({
    async work() {
      const transfers = drawTransfers(bank, transactions, seed, "upwards");
      const replies = await Promise.all(
        transfers.map(({ from, to, amount }) => ctx.ask(from, "transfer", { to, amount })),
      );
      return replies.map(answered).length;
    },
  }));

  const settled = answered(await teller.ask("work"));
  const balances = await Promise.all(bank.map((account) => account.ask("balance")));
  return { settled, ...review(balances.map(answered)) };
}
