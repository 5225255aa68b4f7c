export interface Message<Payload = unknown> { readonly payload: Payload }
