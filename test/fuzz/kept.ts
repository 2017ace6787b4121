import type { Asked } from './parameters.ts'

/** Inputs that fuzzing has found something with, or that stand for what it must find: bytes are in Latin-1. */
export const KEPT: {
  readonly json: readonly string[]
  readonly parameters: readonly Asked[]
  readonly requests: readonly string[]
} = {
  json: [
    '-0',
    '{"a:b":":","\\":":1}',
    '{"id":1,"\\u0069d":1}',
    '9223372036854775807.0e0',
    '9007199254740992.5',
    '-9223372036854775808e-0',
    '"\xed\xa0\x80"',
    '{"a":[{"\\udf31\\ud83c":1}]}',
    '"\\\\ud83c"',
    '"\xf4\x90\x80\x80"',
  ],
  parameters: [
    { method: 'GET', url: '/plants?limit=1&l%69mit=1' },
    { method: 'GET', url: '/plants?cursor=f_________8&x=%C3%A9' },
    { method: 'DELETE', url: '/plants/%2D9223372036854775808' },
    { method: 'DELETE', url: '/plants/7%00' },
  ],
  requests: [
    'POST /plants HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\nDELETE /plants/7 HTTP/1.1\r\nHost: h\r\n\r\n',
  ],
}
