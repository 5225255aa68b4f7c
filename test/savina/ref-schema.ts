import { type Protocol, type Ref, type SignaturesOf, Type } from "../../src/index";

/** The schema of a reference that travels in a message, to an actor of a protocol: `refTo<typeof Customer>()`. */
export const refTo = <P extends Protocol>() => refWith<SignaturesOf<P>>();

/** The schema of a reference to any actor with these operations: `refWith<{ paint: (colour: string) => void }>()`. */
export const refWith = <Signatures>() => Type.Unsafe<Ref<Signatures>>(Type.Object({ address: Type.String() }));
