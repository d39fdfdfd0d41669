import { readFileSync } from 'node:fs'
import { compareDependencies } from '../../src/dependencies/compare.ts'

/** A file of fixtures/dependencies, as its tool wrote it. */
export function fixture(name: string): string {
  return readFileSync(new URL(`../../fixtures/dependencies/${name}`, import.meta.url), 'utf8')
}

export function bytes(text: string | null): Uint8Array | null {
  return text === null ? null : Buffer.from(text)
}

/** What a candidate changes that leaves this one file as `candidate`. */
export function changeOf(path: string, base: string | null, candidate: string | null) {
  return compareDependencies([{ path, base: bytes(base), candidate: bytes(candidate) }])
}

/** "name version source", in order: what a reviewer is asked about. */
export function additionsOf(path: string, base: string | null, candidate: string | null): string[] {
  const { additions, faults } = changeOf(path, base, candidate)
  if (faults.length > 0) throw new Error(faults.map(({ fault }) => fault).join('\n'))
  return additions.map(({ name, version, source }) => `${name} ${version} ${source}`).toSorted()
}

export function faultOf(path: string, base: string | null, candidate: string | null): string | undefined {
  return changeOf(path, base, candidate).faults[0]?.fault
}
