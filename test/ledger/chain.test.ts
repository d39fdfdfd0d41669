import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LedgerError } from '../../src/errors.ts'
import {
  buildEventPath,
  checkEventFile,
  openChain,
  parseEventSeq,
  parseShardName,
} from '../../src/ledger/event-file.ts'
import { hashSha256, toCanonicalJson } from '../../src/model/canonical-json.ts'
import { computeEventId, type EventDraft } from '../../src/model/event.ts'
import { AT, BY, note } from './temp-ledger.ts'

const digest = fc.uint8Array({ minLength: 4, maxLength: 4 }).map(bytes => hashSha256(bytes))
// No schema keeps a member of this name, so sealing refuses it.
const metric = fc.string().filter(name => name !== '__proto__')
const number = fc.double({ noNaN: true, noDefaultInfinity: true })
const draft: fc.Arbitrary<EventDraft> = fc.oneof(
  fc.record({
    kind: fc.constant('note' as const),
    cause: fc.string({ unit: 'grapheme' }),
    text: fc.string({ unit: 'grapheme' }),
    experiment: fc.option(fc.nat(5000).map(n => `exp-${String(n).padStart(3, '0')}`)),
  }),
  fc.record({
    kind: fc.constant('judged' as const),
    cause: fc.string(),
    key: fc.string(),
    order: digest,
    model: fc.string(),
    records: fc.array(
      fc.record({
        judge: fc.nat(3),
        item: fc.string(),
        side: fc.constantFrom('base' as const, 'candidate' as const),
        time: fc.constantFrom(1 as const, 2 as const),
        scores: fc.dictionary(metric, number, { noNullPrototype: true }),
      }),
      { maxLength: 3 },
    ),
    requests: fc.nat(),
    tokens: fc.nat(),
    usd: fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }),
    ended: fc.constant(null),
  }),
)
const start = fc.oneof(
  fc.constant({ seq: 0, head: null }),
  fc.record({ seq: fc.integer({ min: 1, max: 20_000_000 }), head: digest }),
)
const bytesOf = (text: string) => new TextEncoder().encode(text)

describe('the chain', () => {
  test('numbers events from its start and links each to the bytes of the one before', () => {
    fc.assert(
      fc.property(start, fc.array(draft, { minLength: 1, maxLength: 6 }), (from, drafts) => {
        const chain = openChain(from, { at: AT, by: BY })
        let { seq, head } = from
        for (const each of drafts) {
          const sealed = chain.addEvent(each)
          expect(sealed.event).toMatchObject({
            seq,
            prev: head,
            at: AT,
            by: BY,
            kind: each.kind,
            id: computeEventId(each),
          })
          expect(sealed.bytes).toBe(`${toCanonicalJson(sealed.event)}\n`)
          expect(sealed.sha256).toBe(hashSha256(sealed.bytes))
          seq += 1
          head = sealed.sha256
        }
      }),
    )
  })

  test('gives the same draft the same id at any position', () => {
    fc.assert(
      fc.property(start, start, draft, (one, other, each) => {
        const stamp = { at: AT, by: BY }
        const elsewhere = { at: '2027-01-01T00:00:00.000Z', by: { ...BY, actor: 'somebody else' } }
        expect(openChain(one, stamp).addEvent(each).event.id).toBe(
          openChain(other, elsewhere).addEvent(each).event.id,
        )
      }),
    )
  })

  test('is read back as it was written', () => {
    fc.assert(
      fc.property(start, draft, (from, each) => {
        const sealed = openChain(from, { at: AT, by: BY }).addEvent(each)
        expect(checkEventFile(bytesOf(sealed.bytes), from)).toEqual({
          event: sealed.event,
          sha256: sealed.sha256,
        })
      }),
    )
  })

  test('refuses a file in which any one byte was changed', () => {
    const from = { seq: 7, head: hashSha256('six') }
    const { bytes, sha256: sealedSha } = openChain(from, { at: AT, by: BY }).addEvent(note('ten'))
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (at, by) => {
        const edited = bytesOf(bytes)
        edited[at] = (edited[at] ?? 0) ^ by
        try {
          // The stamp (at, by) is covered by the next event's prev alone.
          expect(checkEventFile(edited, from).sha256).not.toBe(sealedSha)
        } catch (error) {
          expect(error).toBeInstanceOf(LedgerError)
          expect(String(error)).toContain('event 7 (events/0000/000007.json)')
        }
      }),
    )
  })

  test('does not write an unreadable event: a number JSON cannot hold, a payload the schema refuses', () => {
    const chain = openChain({ seq: 0, head: null }, { at: AT, by: BY })
    const cost = { model: 'm', records: [], requests: 0, tokens: 0, ended: null }
    const judged = { kind: 'judged', cause: 'x', key: 'k', order: hashSha256('o'), usd: 0, ...cost } as const
    const nan: EventDraft = { ...judged, usd: Number.NaN }
    const order: EventDraft = { ...judged, order: 'no digest' }
    expect(() => chain.addEvent(nan)).toThrow(/not representable/)
    expect(() => chain.addEvent(order)).toThrow(/order/)
    expect(chain.addEvent(note('first')).event.seq).toBe(0)
  })
})

describe('an event file', () => {
  const from = { seq: 3, head: hashSha256('two') }
  const { bytes } = openChain(from, { at: AT, by: BY }).addEvent(note('hello'))
  const check =
    (text: string, expected = from) =>
    () =>
      checkEventFile(bytesOf(text), expected)

  test('names the part that does not fit', () => {
    expect(check(bytes.replace('hello', 'hullo'))).toThrow(/its id is .*, its content makes it/)
    expect(check(bytes, { ...from, seq: 4 })).toThrow(/event 4 .*it says seq 3/)
    expect(check(bytes, { ...from, head: hashSha256('other') })).toThrow(
      /its prev is .*, the file before it has/,
    )
    expect(check(bytes.trimEnd())).toThrow(/canonical/)
    expect(check(bytes.replace(':{', ': {'))).toThrow(/canonical/)
    expect(check('')).toThrow(/not JSON/)
    expect(check('[]')).toThrow(/no kind/)
    expect(check(bytes.replace('"text":"hello"', '"text":5'))).toThrow(/text/)
    expect(check(bytes.replace('"text"', '"colour":"red","text"'))).toThrow(/colour/)
  })

  test('of an unknown kind says that a newer winnow wrote it', () => {
    expect(check(bytes.replace('"note"', '"teleported"'))).toThrow(
      /"teleported" is unknown: a newer winnow wrote it/,
    )
  })
})

describe('the layout of event files', () => {
  test('holds at most 1,000 events in a directory and finds every one again', () => {
    expect(buildEventPath(123).path).toBe('events/0000/000123.json')
    expect(buildEventPath(1000).path).toBe('events/0001/001000.json')
    expect(buildEventPath(12_345_678).path).toBe('events/12345/12345678.json')
    fc.assert(
      fc.property(fc.nat(50_000_000), seq => {
        const { shard, file } = buildEventPath(seq)
        const number = parseShardName(shard)
        expect(number === null ? null : parseEventSeq(number, file)).toBe(seq)
      }),
    )
  })

  test('accepts no other name', () => {
    expect(['1', '00001', 'abcd', '-001', ''].map(parseShardName)).toEqual([null, null, null, null, null])
    expect(
      ['000001.json', '1000.json', '0001000.json', '001000.JSON', 'x'].map(name => parseEventSeq(1, name)),
    ).toEqual([null, null, null, null, null])
  })
})
