// A session of a client of the harbour, and the changes of its author.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'

/** As a number of JavaScript it would be another one. */
const BERTH = 9007199254740993n

/** A boat comes and takes a berth, by a form, and leaves it. */
export async function session(t: Test, origin: string, token: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}` }
  t.equal(await put(origin, token, '/boats/Sea & Co.'), 200)
  const body = new URLSearchParams({ berth: String(BERTH), name: 'Sea & Co.' })
  const taken = await fetch(`${origin}/v1/berths`, { method: 'POST', headers, body })
  t.strictSame([taken.status, await taken.json()], [201, { name: 'Sea & Co.' }])
  const leave = (berth: bigint) =>
    fetch(`${origin}/v1/boats/Sea%20%26%20Co./berths/${berth}`, { method: 'DELETE', headers })
  t.equal((await leave(BERTH - 1n)).status, 404, 'a number is exact')
  t.equal((await leave(BERTH)).status, 204)
}

async function get(origin: string, token: string, path: string): Promise<Response> {
  return fetch(`${origin}/v1${path}`, { headers: { authorization: `Bearer ${token}` } })
}

export async function statusOf(origin: string, token: string, path: string): Promise<number> {
  const response = await get(origin, token, path)
  await response.arrayBuffer()
  return response.status
}

export async function textOf(origin: string, token: string, path: string): Promise<string> {
  return get(origin, token, path).then(
    (response) => response.text(),
    () => '',
  )
}

export async function put(origin: string, token: string, path: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const request = { method: 'PUT', headers, body: '{"length":9}' }
  return (await fetch(`${origin}/v1${path}`, request)).status
}

/** Changes a file at a place, which it must have. */
export function change(folder: string, file: string, from: string | RegExp, to: string): void {
  const path = join(folder, file)
  const text = readFileSync(path, 'utf8')
  const changed = text.replace(from, to)
  if (changed === text) throw new Error(`${file} lacks ${String(from)}`)
  writeFileSync(path, changed)
}
