// The session of the generated clients: its ids, and its expected output.

/** The ids of a session: three ids in ascending order, and an id without a plant. */
type Ids = readonly [first: string, second: string, third: string, missing: string]

/** Ids of all 64 bits. */
export const INT64: Ids = [
  '-9223372036854775808',
  '9007199254740993',
  '9223372036854775807',
  '9007199254740992',
]

/** Ids within the exact range of a `number`, for clients in TypeScript. */
export const SAFE: Ids = [
  '-9007199254740991',
  '9007199254740990',
  '9007199254740991',
  '9007199254740989',
]

/** The output of the session in every language. It creates plants, follows `Link`, gets an error, and deletes. */
export function expectedSession([first, second, third, missing]: Ids): string {
  return `create ${first}: 200 Rose garden
create ${second}: 200 Aloe vera
create ${third}: 200 🌱
create ${third}: 409 error 409
list: 200 Rose garden, Aloe vera
next: 200 🌱
bad cursor: 400 error 400
delete ${missing}: 404 error 404
delete ${first}: 204
delete ${second}: 204
delete ${third}: 204
bad token: 401 error 401
`
}
