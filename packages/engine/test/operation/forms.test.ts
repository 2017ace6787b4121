// The parser of multipart/form-data: valid and refused forms. constructs/bodies.ts has forms over
// HTTP.
import t from 'tap'
import { parseParts } from '../../src/operation/input/multipart.ts'

/** The parsed part. */
type Read = readonly [name: string, text: string, ...file: (string | undefined)[]]

const TYPE = 'multipart/form-data; boundary=b-1'
const D = 'Content-Disposition: form-data; name='

function read(text: string, type = TYPE): Read[] {
  const parts = [...parseParts(Buffer.from(text), type)]
  return parts.map(({ name, filename, type, bytes }): Read => {
    const file = filename === undefined ? [] : [filename, type]
    return [name, bytes.toString(), ...file]
  })
}
/** A form of one part. @param part what follows its name */
const formOf = (part: string) => `--b-1\r\n${D}${part}\r\n--b-1--\r\n`

/** By name. */
const READ: Readonly<Record<string, readonly [parts: Read[], text: string, type?: string]>> = {
  'no part': [[], '--b-1--\r\n'],
  'no end of line after the last delimiter': [[['a', 'x']], formOf('a\r\n\r\nx').trimEnd()],
  'texts before and after the parts': [
    [['a', 'x']],
    `b-1\r\n--b\r\n${formOf('a\r\n\r\nx')}--b-1\r\n`,
  ],
  'an empty line before the first delimiter': [[['a', 'x']], `\r\n${formOf('a\r\n\r\nx')}`],
  'spaces after delimiters': [[['a', 'x']], `--b-1 \t\r\n${D}a\r\n\r\nx\r\n--b-1-- \r\nepilogue`],
  'a quoted boundary': [
    [['a', 'x']],
    `--b 1'()\r\n${D}a\r\n\r\nx\r\n--b 1'()--`,
    'Multipart/Form-Data; v="; boundary=b-1"; Boundary="b 1\'()"',
  ],
  'the boundary within a line': [
    [['a', 'b-1 --b-1 x--b-1--\r\n-b-1\n--b-1']],
    formOf('a\r\n\r\nb-1 --b-1 x--b-1--\r\n-b-1\n--b-1'),
  ],
  'an empty text, and one of line ends': [
    [
      ['a', ''],
      ['a', '\r\n\r\n'],
    ],
    `--b-1\r\n${D}a\r\n\r\n\r\n--b-1\r\n${D}a\r\n\r\n\r\n\r\n\r\n--b-1--`,
  ],
  'a name as a token, quoted, or empty': [
    [
      ['a', ''],
      ['a b;=', ''],
      ['', ''],
    ],
    `--b-1\r\n${D}a\r\n\r\n\r\n--b-1\r\n${D}"a b;="\r\n\r\n\r\n--b-1\r\n${D}""\r\n\r\n\r\n--b-1--`,
  ],
  'the escapes of browsers, and no other': [
    [['"\r\n\\%2b', '']],
    formOf('"%22%0d%0A\\%2b"\r\n\r\n'),
  ],
  'a file': [
    [['a', 'x', 'é', 'a/b; c=d']],
    formOf('a;filename="é"\r\nCONTENT-type:a/b; c=d \r\n\r\nx'),
  ],
  'a file without a type, and without a name': [
    [['a', 'x', '', undefined]],
    formOf('a; filename=""\r\n\r\nx'),
  ],
  'a file whose name is encoded': [
    [['a', '', 'é "', undefined]],
    formOf("a; filename=e; filename*=UTF-8'en'%C3%A9%20%22\r\n\r\n"),
  ],
  'other headers, and those that say nothing': [
    [['a', 'x']],
    formOf('a\r\nX: é\r\nX: y\r\nContent-Transfer-Encoding: 8BIT\r\nContent-Length: 7\r\n\r\nx'),
  ],
  'other parameters': [[['a', 'x']], formOf('a; b=c;\r\n\r\nx')],
  'a header without a space': [
    [['a', 'x']],
    `--b-1\r\ncontent-disposition:FORM-DATA;NAME=a\r\n\r\nx\r\n--b-1--`,
  ],
}

for (const [name, [parts, text, type]] of Object.entries(READ)) {
  t.test(`a form is read: ${name}`, async (t) => {
    t.strictSame(read(text, type), parts)
  })
}

/** By fault. */
const REFUSED: Readonly<Record<string, string | readonly [text: string, type: string]>> = {
  nothing: '',
  'no boundary': [formOf('a\r\n\r\nx'), 'multipart/form-data'],
  'an empty boundary': [formOf('a\r\n\r\nx'), 'multipart/form-data; boundary=""'],
  'two boundaries': [formOf('a\r\n\r\nx'), `${TYPE}; boundary=b-1`],
  'a boundary of 71 characters': [
    formOf('a\r\n\r\nx').replaceAll('b-1', 'b'.repeat(71)),
    `multipart/form-data; boundary=${'b'.repeat(71)}`,
  ],
  'another boundary': [formOf('a\r\n\r\nx'), 'multipart/form-data; boundary=b-2'],
  'no last delimiter': formOf('a\r\n\r\nx').replace('--b-1--', ''),
  'a last delimiter that is not the last': formOf('a\r\n\r\nx').replace('--b-1--', '--b-1'),
  'a last delimiter within a line': formOf('a\r\n\r\nx').replace('\r\n--b-1--', '--b-1--'),
  'a delimiter that goes on': formOf('a\r\n\r\nx').replace('--b-1\r\n', '--b-1x\r\n'),
  'a delimiter that goes on within a part': formOf('a\r\n\r\nx\r\n--b-1x'),
  'a last delimiter that goes on': formOf('a\r\n\r\nx').replace('--b-1--', '--b-1--x'),
  'lines that end with LF': formOf('a\r\n\r\nx').replaceAll('\r', ''),
  'no empty line': formOf('a\r\nx'),
  'no headers': '--b-1\r\n\r\nx\r\n--b-1--',
  'no name': formOf('a\r\n\r\nx').replace('; name=a', ''),
  'no form-data': formOf('a\r\n\r\nx').replace('form-data', 'attachment'),
  'a name in another word': formOf('a\r\n\r\nx').replace('form-data;', 'form-data'),
  'two names': formOf('a; name=b\r\n\r\nx'),
  'two headers': formOf(`a\r\n${D}b\r\n\r\nx`),
  'two types': formOf('a\r\nContent-Type: a/b\r\nContent-Type: a/b\r\n\r\nx'),
  'a text that does not end': formOf('"a\r\n\r\nx'),
  'a quote in a text': formOf('"a"b"\r\n\r\nx'),
  'a folded header': formOf('a;\r\n filename=b\r\n\r\nx'),
  'a header without a colon': formOf('a\r\nX\r\n\r\nx'),
  'a space before a colon': formOf('a\r\nX : y\r\n\r\nx'),
  'a bare CR, LF or NUL': formOf('a\r\nX: y\rz\r\n\r\nx'),
  'a bare LF': formOf('a\r\nX: y\nz\r\n\r\nx'),
  NUL: formOf('a\r\nX: \0\r\n\r\nx'),
  'the name of a file in another encoding': formOf("a; filename*=latin1''%E9\r\n\r\nx"),
  'the name of a file that is not UTF-8': formOf("a; filename*=UTF-8''%E9\r\n\r\nx"),
}

for (const [name, refused] of Object.entries(REFUSED)) {
  t.test(`a form is refused: ${name}`, async (t) => {
    const [text, type] = typeof refused === 'string' ? [refused, TYPE] : refused
    t.throws(() => read(text, type), { statusCode: 400, message: 'The form is malformed' })
  })
}

t.test('an encoded part is refused', async (t) => {
  for (const encoding of ['base64', 'quoted-printable', 'gzip', ''])
    t.throws(() => read(formOf(`a\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\neA==`)), {
      statusCode: 400,
      message: /must not have a Content-Transfer-Encoding/,
    })
})

t.test('what Node writes is read as it was', async (t) => {
  const form = new FormData()
  const names = ['a', 'é🌱', 'a"b', 'a\\', "a'b; c=d", ' ', '%41', '\ufffd', '--b-1']
  for (const name of names) {
    form.append(name, `${name}\ufeff\0${name}`)
    form.append(name, new File(['\ufeff', name], name, { type: 'Image/PNG; a=b' }))
  }
  const response = new Response(form)
  const type = response.headers.get('content-type') ?? ''
  const expected = names.flatMap((name): Read[] => [
    [name, `${name}\ufeff\0${name}`],
    [name, `\ufeff${name}`, name, 'image/png; a=b'],
  ])
  t.strictSame(read(await response.text(), type), expected)
})
