import {
  patchOf,
  type TestRepository,
  type TestRepositoryOptions,
  createTestRepository,
} from './repository.ts'

/** The campaign most tests run: fewer bytes below src, in three files of fifteen letters. */
export const SIZE_SPEC = `winnow: 1
metric:
  primary: { name: bytes, direction: minimize }
measurement: { command: sh bench/size.sh, timeout_seconds: 60, probes: off }
gates: [{ name: tests, command: sh bench/test.sh }]
scope: { mutable: [src/] }
propose: [{ use: patch, dir: ideas }, { use: external }]
`

/** Counts the bytes of src; words in it make the harness slow, crash, or dislike two changes together. */
export const SIZE_HARNESS = `#!/bin/sh
grep -q slow src/*.txt && sleep 100
grep -q crash src/*.txt && { echo 'it went wrong' >&2; exit 3; }
extra=0
[ "$(cat src/*.txt | grep -c clash)" -gt 1 ] && extra=100
printf '{"bytes": %s}' "$(( $(cat src/*.txt | wc -c) + extra ))"
`
export const SIZE_FILES = {
  'src/a.txt': letters('a', 15),
  'src/b.txt': letters('b', 15),
  'src/c.txt': letters('c', 15),
  'bench/size.sh': SIZE_HARNESS,
  'bench/test.sh': '#!/bin/sh\n! grep -q broken src/*.txt\n',
}

export function letters(letter: string, count: number): string {
  return `${letter.repeat(count)}\n`
}

/** An idea that makes one of the three files as long as it says. */
export function shorter(letter: 'a' | 'b' | 'c', count: number, hypothesis = `${letter}${count}`): string {
  return patchOf({ [`src/${letter}.txt`]: [letters(letter, 15), letters(letter, count)] }, { hypothesis })
}

export interface SizeOptions extends Omit<TestRepositoryOptions, 'files' | 'spec'> {
  /** More lines of the spec, or other values for its keys. */
  spec?: string | ((text: string) => string)
  files?: Record<string, string>
}

export async function createSizeRepository(
  ideas: readonly string[],
  options: SizeOptions = {},
): Promise<TestRepository> {
  const { spec = '', files = {}, ...rest } = options
  const patches = Object.fromEntries(
    ideas.map((text, index) => [`ideas/${String(index + 1).padStart(2, '0')}.patch`, text]),
  )
  const text = typeof spec === 'string' ? `${SIZE_SPEC}${spec}` : spec(SIZE_SPEC)
  return createTestRepository({ ...rest, spec: text, files: { ...SIZE_FILES, ...patches, ...files } })
}
