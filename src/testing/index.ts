export { type BehaviourKit, createBehaviourKit, type Run, type RunOptions, type RunReply } from "./behaviour-kit";
export type { Effect } from "./effect";
export type { Refusal } from "./kit-answers";
export type { LogEntry } from "./log";
export { createManualClock, type ManualClock } from "./manual-clock";
export type { Probe, Received } from "./probe";
export type { AnswerArgs, Answering, AnswerOf, AnyName, PayloadOf } from "./signatures";
export { createTestSystem, type TestSystem, type TestSystemOptions, withTestSystem } from "./test-system";
