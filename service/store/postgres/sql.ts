import type { TableInfo } from './create-tables.ts'

/** The most rows that `entries` returns. */
const MAX_ENTRIES = 500

/** The statements of a table. A write returns a row for each item that it wrote or deleted. */
export function statements({ name, type, columns: [owner, key, item] }: TableInfo) {
  const keyType = type === 'text' ? 'text' : 'int8'
  const written = `unnest($1::text[], $2::${keyType}[], $3::text[], $4::text[]) AS written (owner, key, item, before)`
  const isMatch = `stored.${owner} = written.owner AND stored.${key} = written.key`
  const returned = `RETURNING stored.${owner} AS owner, stored.${key} AS key, stored.${item} AS item`
  return {
    // If an item exists, it is updated to itself: that locks the row and returns it.
    create: `INSERT INTO "${name}" AS stored SELECT owner, key, item FROM ${written}
      ON CONFLICT (${owner}, ${key}) DO UPDATE SET ${item} = stored.${item} ${returned}`,
    update: `UPDATE "${name}" AS stored SET ${item} = written.item FROM ${written}
      WHERE ${isMatch} AND stored.${item} = written.before ${returned}`,
    delete: `DELETE FROM "${name}" AS stored USING ${written} WHERE ${isMatch} ${returned}`,
    steps: `SELECT n, step.* FROM
      unnest($1::text[], $2::${keyType}[], $3::int8[], $4::int8[], $5::${keyType}[])
        WITH ORDINALITY AS asked (of, first, most, length, until, n)
      CROSS JOIN LATERAL (
        SELECT coalesce(string_agg(item, ',' ORDER BY key), '') AS text, count(*) AS count, max(key) AS last,
          EXISTS (SELECT FROM "${name}" WHERE ${owner} = of AND ${key} > max(taken.key)) AS more
        FROM (
          SELECT key, item, sum(octet_length(item)) OVER (ORDER BY key) - octet_length(item) AS before
          FROM (SELECT ${key} AS key, ${item} AS item FROM "${name}" WHERE ${owner} = of AND ${key} >= first
            ORDER BY ${key} LIMIT most) AS found
        ) AS taken
        WHERE before < length AND (until IS NULL OR key <= until)
      ) AS step`,
    skip: `SELECT ${key} AS key FROM "${name}" WHERE ${owner} = $1 AND ${key} >= $2 ORDER BY ${key} LIMIT 1 OFFSET $3`,
    entries: `SELECT ${owner} AS owner, ${key} AS key, ${item} AS item FROM "${name}"
      WHERE (${owner}, ${key}) >= ($1, $2) ORDER BY ${owner}, ${key} LIMIT ${MAX_ENTRIES}`,
  }
}
