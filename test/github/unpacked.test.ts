import { zipSync } from 'fflate'
import { describe, expect, test } from 'vitest'
import { extractArtifactFile } from '../../src/github/workflows.ts'

const PARCEL = { file: 'report.json', most: 1000 }

function archive(files: Record<string, string>): Uint8Array {
  const entries = Object.entries(files).map(([name, text]) => [name, new TextEncoder().encode(text)])
  return zipSync(Object.fromEntries(entries))
}

function whyNot(bytes: Uint8Array): string {
  const result = extractArtifactFile(bytes, PARCEL)
  return result.ok ? `it was taken: ${Buffer.from(result.bytes).toString()}` : result.why
}

describe('an archive from an untrusted run', () => {
  test('gives the one file that is expected', () => {
    const result = extractArtifactFile(archive({ 'report.json': '{"a":1}' }), PARCEL)
    expect(result.ok && Buffer.from(result.bytes).toString()).toBe('{"a":1}')
  })

  test.each([
    [{ 'report.json': '{}', 'more.json': '{}' }, /holds "report.json", "more.json" instead/],
    [{ 'a.txt': '', 'report.json': '{}' }, /holds "a.txt", "report.json" instead/],
    [{ '../report.json': '{}' }, /holds "..\/report.json" instead/],
    [{ '/etc/passwd': '{}' }, /holds "\/etc\/passwd" instead/],
    [{ 'report.json/': '' }, /holds "report.json\/" instead/],
    [{ '\u001b[2J\n::error::x': '' }, /holds "\\u001b\[2J\\n::error::x" instead/],
    [{}, /holds nothing instead/],
  ])('that holds anything else is refused: %j', (files, why) => {
    expect(whyNot(archive(files))).toMatch(why)
  })

  test('of a thousand names names three', () => {
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`f${index}`, '']))
    expect(whyNot(archive(many))).toMatch(/"f0", "f1", "f2", and 997 more instead/)
  })

  test('that would become very large is not unpacked', () => {
    expect(whyNot(archive({ 'report.json': 'x'.repeat(50_000_000) }))).toMatch(/larger than 1000 bytes/)
  })

  test('that lies about how large its file is gives no more than it said', () => {
    const bytes = archive({ 'report.json': 'x'.repeat(100_000) })
    const directory = Buffer.from(bytes).lastIndexOf(Buffer.from('PK\u0001\u0002', 'latin1'))
    new DataView(bytes.buffer).setUint32(directory + 24, 10, true)
    const result = extractArtifactFile(bytes, PARCEL)
    expect(result.ok ? result.bytes.byteLength : 0).toBeLessThanOrEqual(10)
  })

  test('that is broken anywhere is refused or the same, and never breaks anything else', () => {
    const whole = archive({ 'report.json': '{"a":1}' })
    expect(whyNot(new Uint8Array(0))).toMatch(/no archive/)
    for (let at = 0; at < whole.length; at++) {
      const broken = Uint8Array.from(whole)
      broken[at] = (broken[at] ?? 0) ^ 0xff
      expect(typeof extractArtifactFile(broken, PARCEL).ok).toBe('boolean')
      expect(typeof extractArtifactFile(whole.subarray(0, at), PARCEL).ok).toBe('boolean')
    }
  })
})
