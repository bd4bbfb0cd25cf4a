import { describe, expect, it } from 'vitest'
import { readEvents, type ServerEvent } from '../../console/src/api/events.ts'
import {
  droppedRowCount,
  FIRST_PAGE,
  nextPageStart,
  type Pages,
  updateRows,
} from '../../console/src/api/pages.ts'

async function read(pieces: readonly string[]): Promise<ServerEvent[]> {
  const bytes = pieces.map(piece => new TextEncoder().encode(piece))
  return Array.fromAsync(readEvents(ReadableStream.from(bytes) as ReadableStream<Uint8Array>))
}

describe('server-sent events', () => {
  it('are parsed one by one, wherever the chunks are split', async () => {
    const text = 'event: job\ndata: {"text":"größer"}\n\n: still here\n\ndata: one\ndata: two\n\n'
    const events = [
      { event: 'job', data: '{"text":"größer"}' },
      { event: 'message', data: 'one\ntwo' },
    ]
    expect(await read([text])).toEqual(events)
    expect(await read([...text])).toEqual(events)
    expect(await read([text.replaceAll('\n', '\r\n')])).toEqual(events)
  })

  it('set the last event id and the time of the last data', async () => {
    const place = { id: '', receivedAtMs: 0 }
    const bytes = new TextEncoder().encode('id: 1-9\ndata: one\n\nid: 2-9\n: still here\n\n')
    const body = ReadableStream.from([bytes]) as ReadableStream<Uint8Array>
    expect(await Array.fromAsync(readEvents(body, place))).toEqual([{ event: 'message', data: 'one' }])
    expect(place.id).toBe('2-9')
    expect(place.receivedAtMs).toBeGreaterThan(0)
  })

  it('are dropped when they are incomplete', async () => {
    expect(await read(['data: whole\n\ndata: ha'])).toEqual([{ event: 'message', data: 'whole' }])
  })

  it('are rejected when one is too long', async () => {
    await expect(read(Array.from({ length: 50 }, () => 'x'.repeat(100_000)))).rejects.toThrow(
      'without an end',
    )
  })
})

describe('the pages of a list', () => {
  type Row = { id: string; status: string }
  const rows = (...ids: string[]): Row[] => ids.map(id => ({ id, status: 'sent' }))
  const first = { data: rows('9', '8'), nextCursor: 'c1' }
  const second = { data: rows('7', '6'), nextCursor: null }
  const start = nextPageStart(first, FIRST_PAGE)!
  const pages: Pages<Row> = { pages: [first, second], pageParams: [FIRST_PAGE, start] }
  const how = { keyOf: ({ id }: Row) => id, fits: ({ status }: Row) => status === 'sent', insert: true }
  const idsOf = (placed: Pages<Row>) => placed.pages.map(({ data }) => data.map(({ id }) => id).join(''))

  it('have a start cursor, and none after the last page', () => {
    expect(start).toEqual({ cursor: 'c1', rowsBefore: 2, previous: FIRST_PAGE })
    expect(nextPageStart(second, start)).toBeNull()
    expect(droppedRowCount(undefined)).toBe(0)
    expect(droppedRowCount({ pages: [second], pageParams: [start] })).toBe(2)
  })

  it('insert new rows on top, update existing ones, and drop rows that no longer match', () => {
    const now = [
      { id: '95', status: 'sent' },
      { id: 'a', status: 'sent' },
      { id: '8', status: 'failed' },
      { id: 'b', status: 'failed' },
      { id: '1', status: 'sent' },
    ]
    const placed = updateRows(pages, now, how)
    expect(idsOf(placed)).toEqual(['a959', '76'])
    expect(placed.pageParams[1]).toEqual({ cursor: 'c1', rowsBefore: 3, previous: FIRST_PAGE })
    expect(idsOf(updateRows(pages, now, { ...how, insert: false }))).toEqual(['9', '76'])
  })

  it('insert rows into an empty list', () => {
    const none: Pages<Row> = { pages: [{ data: [], nextCursor: null }], pageParams: [FIRST_PAGE] }
    expect(idsOf(updateRows(none, rows('3', '4'), how))).toEqual(['43'])
  })
})
