// Histories written by hand: the check must report each wrong one. Correct histories are checked wherever it is used.
import t from 'tap'
import { type Counted, type Lending, lendingViolations } from './lending-order.ts'
import { type List, type Operation, type Write, violations } from './linearizability.ts'

const write = (
  kind: Write['kind'],
  start: number,
  end: number,
  more: Partial<Write> = {},
): Operation => {
  return { kind, owner: 'joe', id: 7, start, end, outcome: 'done', ...more }
}
const create = (start: number, end: number, more?: Partial<Write>) =>
  write('create', start, end, { name: 'a', ...more })
const update = (start: number, end: number, name: string) => write('update', start, end, { name })
const lostUpdate = (start: number) => write('update', start, Infinity, unknown)
const remove = (start: number, end: number, more?: Partial<Write>) =>
  write('delete', start, end, more)
const list = (start: number, end: number, ...names: string[]): List => {
  return { kind: 'list', owner: 'joe', start, end, plants: new Map(names.map((name) => [7, name])) }
}
const refused = { outcome: 'refused' } as const
const unknown = { outcome: 'unknown' } as const

const WRONG: Record<string, Operation[]> = {
  'a create that was answered is lost': [create(0, 1), list(2, 3)],
  'a list that starts later is stale': [create(0, 4), list(1, 2, 'a'), list(3, 5)],
  'a plant is in no list before its delete starts': [create(0, 1), list(2, 4), remove(5, 6)],
  'a plant comes back': [create(0, 1), remove(2, 3), list(4, 5, 'a')],
  'a plant comes back after it was gone from a list': [
    create(0, 1),
    remove(2, 9),
    list(3, 4),
    list(5, 6, 'a'),
  ],
  'an unknown delete is undone': [
    create(0, 1),
    remove(2, Infinity, unknown),
    list(3, 4),
    list(5, 6, 'a'),
  ],
  'an unknown create is undone': [create(0, Infinity, unknown), list(1, 2, 'a'), list(3, 4)],
  'an unknown create takes place twice': [
    create(0, Infinity, unknown),
    remove(1, 2),
    list(3, 4, 'a'),
  ],
  'a plant is created twice': [create(0, 3), create(1, 2, { name: 'b' })],
  'a plant takes the place of another': [
    create(0, 1),
    create(2, Infinity, { name: 'b', ...unknown }),
    list(3, 4, 'b'),
  ],
  'two deletes find the same plant': [create(0, 1), remove(2, 4), remove(3, 5)],
  'a delete does not find the plant': [create(0, 1), remove(2, 3, refused)],
  'a delete finds no plant that it deleted itself': [
    create(0, 1),
    remove(2, 5, refused),
    list(6, 7),
  ],
  'a create is refused though the id is free': [create(0, 1, refused)],
  'a create is refused for its own repetition': [create(0, 1), create(2, 3, refused)],
  'a plant is listed that nobody created': [list(0, 1, 'a')],
  'a plant is listed before its create starts': [list(0, 1, 'a'), create(2, 3)],
  'an update that was answered is lost': [create(0, 1), update(2, 3, 'a+'), list(4, 5, 'a')],
  'one of two updates is lost': [
    create(0, 1),
    update(2, 5, 'a+'),
    update(3, 4, 'a+'),
    list(6, 7, 'a+'),
  ],
  'an update is done twice': [create(0, 1), update(2, 3, 'a+'), list(4, 5, 'a++')],
  'an unknown update is undone': [create(0, 1), lostUpdate(2), list(3, 4, 'a+'), list(5, 6, 'a')],
  'an update brings a plant back': [
    create(0, 1),
    remove(2, 3),
    update(2, 3, 'a+'),
    list(4, 5, 'a+'),
  ],
  'an update finds no plant, although there is one': [create(0, 1), write('update', 2, 3, refused)],
  'an update finds a plant that is deleted': [create(0, 1), remove(2, 3), update(4, 5, 'a+')],
  'an update sees another plant than the one that is stored': [create(0, 1), update(2, 3, 'b+')],
  "another's delete takes a plant": [create(0, 1), remove(2, 3, { owner: 'ann' })],
}

for (const [name, history] of Object.entries(WRONG)) {
  t.test(`the check sees that ${name}`, async (t) => t.match(violations(history), [/^plant 7 of /]))
}

t.test('many unknown outcomes do not slow down the check', async (t) => {
  const open = Array.from({ length: 7 }, (_, at) => [
    create(at, Infinity, { name: String(at), ...unknown }),
    remove(at, Infinity, unknown),
  ])
  t.strictSame(violations([...open.flat(), list(20, 21, '3'), list(22, 23, '5'), list(24, 25)]), [])
  t.match(violations([...open.flat(), list(20, 21, '3'), list(22, 23), list(24, 25, '3')]), [
    /<- wrong$/,
  ])
})

const lending = (
  kind: Lending['kind'],
  [start, end]: readonly [number, number],
  key: string,
  outcome: Lending['outcome'] = 'done',
) => {
  const [member = '', isbn = ''] = key.split('/')
  return { kind, group: 1, member, isbn, start, end, outcome } as const
}
const counted = (
  kind: Counted['kind'],
  [start, end]: readonly [number, number],
  key: string,
  count: number,
) => ({ kind, group: 1, key, start, end, count }) as const
const five = ['1', '2', '3', '4', '5'].map((isbn) => lending('borrow', [0, 9], `ann/${isbn}`))

const WRONG_LENDINGS: Record<string, (Lending | Counted)[]> = {
  'a sixth book is lent': [...five, lending('borrow', [1, 9], 'ann/6')],
  'the only copy is lent twice': [
    lending('borrow', [0, 4], 'ann/1'),
    lending('borrow', [1, 3], 'ben/1'),
  ],
  'a borrow is refused though nothing hinders it': [lending('borrow', [0, 1], 'ann/1', 'refused')],
  'a borrow is lost': [lending('borrow', [0, 1], 'ann/1'), counted('open', [2, 3], 'ann', 0)],
  'a borrow is done for the member only': [
    lending('borrow', [0, 9], 'ann/1'),
    counted('open', [1, 2], 'ann', 1),
    counted('free', [3, 4], '1', 1),
  ],
  'an unknown borrow is done for the book only': [
    lending('borrow', [0, Infinity], 'ann/1', 'unknown'),
    counted('free', [1, 2], '1', 0),
    counted('open', [3, 4], 'ann', 0),
  ],
  'a return is done for the member only': [
    lending('borrow', [0, 1], 'ann/1'),
    lending('return', [2, 9], 'ann/1'),
    counted('open', [3, 4], 'ann', 0),
    lending('borrow', [5, 6], 'ben/1', 'refused'),
  ],
  'a book is returned twice': [
    lending('borrow', [0, 1], 'ann/1'),
    lending('return', [2, 4], 'ann/1'),
    lending('return', [3, 5], 'ann/1'),
  ],
}

for (const [name, history] of Object.entries(WRONG_LENDINGS)) {
  t.test(`the check sees that ${name}`, async (t) =>
    t.match(lendingViolations(history), [/<- wrong$/m]),
  )
}

t.test('the check of a library takes what simultaneous requests may do', async (t) => {
  const right = [
    ...five,
    lending('borrow', [0, 20], 'ben/1', 'unknown'),
    lending('return', [10, 12], 'ann/1'),
    lending('borrow', [11, 13], 'ann/6'),
    counted('open', [14, 15], 'ann', 5),
    counted('free', [16, 17], '1', 1),
    counted('free', [18, 19], '1', 0),
  ]
  t.strictSame(lendingViolations(right), [])
})
