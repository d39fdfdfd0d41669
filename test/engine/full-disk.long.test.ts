import { execFileSync } from 'node:child_process'
import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmdirSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { UserError } from '../../src/errors.ts'
import { refuseFullDisk } from '../../src/engine/jobs/local-runner.ts'
import { aReport, gateRun, run, setUp } from '../decide/a-spec.ts'
import { shorter, createSizeRepository } from '../support/size-repository.ts'
import { patchOf, type TestRepository } from '../support/repository.ts'
import { releaseTest } from '../support/cases.ts'

/** A small disk at this place, that a test may fill. */
interface Disk {
  /** All of it, but for so many pages. */
  fill(pages?: number): void
  free(): void
  /** Nothing is left in it. */
  empty(): void
}

const mounted: string[] = []
afterEach(() => {
  for (const path of mounted.splice(0)) execFileSync('umount', ['--lazy', path])
})

function mount(path: string, size: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', path], { stdio: 'pipe' })
}

/** Why no disk can be made here; null where it can. */
function refusalToMount(): string | null {
  const path = mkdtempSync(join(tmpdir(), 'winnow-mount-'))
  try {
    mount(path, '64k')
    execFileSync('umount', [path])
    return null
  } catch (error) {
    return error instanceof Error ? error.message.trim().replaceAll('\n', ' ') : String(error)
  } finally {
    rmdirSync(path)
  }
}

function disk(path: string): Disk {
  mkdirSync(path, { recursive: true })
  mount(path, '2m')
  mounted.push(path)
  const filler = join(path, 'filler')
  return {
    fill: pages => fillUp(filler, pages ?? 0),
    free: () => rmSync(filler, { force: true }),
    empty: () => readdirSync(path).forEach(name => rmSync(join(path, name))),
  }
}

const PAGE = Buffer.alloc(4096)

function fillUp(filler: string, left: number): void {
  const file = openSync(filler, 'a')
  let written = 0
  try {
    for (; ; written++) writeSync(file, PAGE)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
    ftruncateSync(file, Math.max(0, written - left) * PAGE.length)
  } finally {
    closeSync(file)
  }
}

const refusal = refusalToMount()
const skipped = refusal === null ? '' : ` (skipped, a tmpfs cannot be mounted here: ${refusal})`

describe.skipIf(refusal !== null)(`a disk that fills up${skipped}`, () => {
  /** A campaign with a small disk at this folder of its data, full once its experiment comes to `at`. */
  async function filling(
    folder: string,
    at: string,
    { left = 0, emptied = false } = {},
  ): Promise<{ site: TestRepository; own: Disk }> {
    let own: Disk | null = null
    let reached = 0
    // The first time is the calibration's, the second the experiment's.
    const fault = (point: string) => {
      if (point !== at || ++reached !== 2) return
      if (emptied) own?.empty()
      own?.fill(left)
    }
    const site = await createSizeRepository([shorter('a', 3)], {
      spec: 'execution: { mode: serial }\n',
      fault,
    })
    own = disk(join(site.place.dataDir, folder))
    await site.start()
    return { site, own }
  }

  async function told(site: TestRepository, words: RegExp, directory: string): Promise<void> {
    const error = await site.run().catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(UserError)
    expect(error).toMatchObject({
      message: expect.stringMatching(words),
      fix: expect.stringMatching(/^free space/),
      place: { file: expect.stringContaining(directory) },
    })
  }

  async function goesOn(site: TestRepository, lost: number): Promise<void> {
    expect(await site.run()).toEqual({ for: 'ideas' })
    expect(await site.outcomes()).toEqual({ a3: 'kept' })
    expect((await site.kinds()).filter(kind => kind === 'order-lost')).toHaveLength(lost)
    await site.proven()
  }

  it('under the cache is named with the directory of the objects, and the campaign continues', async () => {
    const site = await createSizeRepository([shorter('a', 3)])
    const own = disk(join(site.root, 'small'))
    const client = await site.another({ cache: 'small' })
    own.fill()
    const error = await client.start().catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(UserError)
    const where = client.place.repository.dir
    expect(error).toMatchObject({
      message: expect.stringMatching(`^git objects cannot be written to ${where}.*(full|No space left)`),
      fix: expect.stringMatching(/^free space/),
    })
    own.free()
    await client.start()
    expect(await client.run()).toEqual({ for: 'ideas' })
    await goesOn(site, 0)
  })

  releaseTest('below the claims of orders is named; the order is claimed when there is room', async () => {
    // The calibration's files would make room as they are forgotten: they go first.
    const { site, own } = await filling('orders', 'before:dispatch', { emptied: true })
    await told(site, / cannot be used: ENOSPC/, site.place.dataDir)
    own.free()
    await goesOn(site, 0)
  })

  it('below the reports is named; the order is measured once more', async () => {
    const { site, own } = await filling('orders', 'measure:before-report')
    await told(site, / cannot be used: ENOSPC/, site.place.dataDir)
    own.free()
    await goesOn(site, 1)
  })

  describe('while an execution writes to it', () => {
    const SERIAL = 'execution: { mode: serial }\n'

    /** Its disk is full while the experiment's orders of these numbers are executed. */
    async function filledDuring(full: readonly number[]): Promise<TestRepository> {
      let own: Disk | null = null
      let orders = 0
      const fault = (point: string) => {
        // The first order is the calibration's.
        if (point === 'measure:started' && full.includes(orders++)) own?.fill()
        if (point === 'measure:before-report') own?.free()
      }
      const site = await createSizeRepository([shorter('a', 3), shorter('b', 5)], { spec: SERIAL, fault })
      own = disk(join(site.place.dataDir, 'work/0'))
      await site.start()
      return site
    }

    async function failures(site: TestRepository): Promise<(string | null)[]> {
      const events = await site.events()
      return events.flatMap(event => (event.kind === 'measured' ? [event.report.runner_error] : []))
    }

    it('is a failure of the runner: the order is measured again, and gets its normal verdict', async () => {
      const site = await filledDuring([1, 2])
      expect(await site.run()).toEqual({ for: 'ideas' })
      expect(await site.outcomes()).toEqual({ a3: 'kept', b5: 'kept' })
      const why = expect.stringMatching(
        /^this machine failed, not your code: ENOSPC: no space is left in the measuring directory /,
      )
      expect(await failures(site)).toEqual([null, why, why, null, null])
      await site.proven()
    })

    releaseTest(
      'for max_attempts gives no verdict; the idea is tried again when no other is queued',
      async () => {
        const site = await filledDuring([1, 2, 3])
        expect(await site.run()).toEqual({ for: 'ideas' })
        expect(await site.outcomes()).toEqual({ a3: 'kept', b5: 'kept' })
        const unproven = (await site.events()).flatMap(event =>
          event.kind === 'decided' && event.stays_open ? [event] : [],
        )
        expect(unproven).toMatchObject([{ verdict: 'not proven', outcome: 'inconclusive' }])
        expect(unproven[0]?.reason).toMatch(/^the machine failed each time: ENOSPC: .*\(3 attempts\)$/)
        await site.proven()
      },
    )

    releaseTest('leaves no file behind for the next order', async () => {
      const files = {
        'bench/size.sh': `#!/bin/sh
grep -q greedy src/*.txt && { cat /dev/zero > "$TMPDIR/much"; exit 3; }
printf '{"bytes": %s}' "$(cat src/*.txt | wc -c)"
`,
      }
      const greedy = patchOf({ 'src/d.txt': [null, 'greedy\n'] }, { hypothesis: 'greedy' })
      const site = await createSizeRepository([greedy, shorter('b', 5)], { spec: SERIAL, files })
      disk(join(site.place.dataDir, 'work/0'))
      await site.start()
      expect(await site.run()).toEqual({ for: 'ideas' })
      expect(await site.outcomes()).toEqual({ greedy: null, b5: 'kept' })
      // Not proven after three attempts, and after three more.
      expect((await failures(site)).filter(each => each !== null)).toHaveLength(6)
      await site.proven()
    })

    it('is a failure of the candidate when the disk has room', async () => {
      const files = {
        'bench/size.sh': `#!/bin/sh
grep -q liar src/*.txt && { echo 'No space left on device (ENOSPC)' >&2; exit 28; }
printf '{"bytes": %s}' "$(cat src/*.txt | wc -c)"
`,
      }
      const liar = patchOf({ 'src/d.txt': [null, 'liar\n'] }, { hypothesis: 'liar' })
      const site = await createSizeRepository([liar], { spec: SERIAL, files })
      disk(join(site.place.dataDir, 'work/0'))
      await site.start()
      await site.run()
      expect(await site.outcomes()).toEqual({ liar: 'error' })
      expect(await failures(site)).toEqual([null, null])
      await site.proven()
    })
  })

  it.each([
    { before: 'anything is laid out', left: 0 },
    { before: 'all is laid out', left: 4 },
  ])('before $before is named at every attempt, and no idea is blamed', async ({ left }) => {
    const { site, own } = await filling('work/0', 'before:dispatch', { left })
    for (const _ of ['at once', 'and again']) {
      await told(site, /the disk is full|ENOSPC/, site.place.dataDir)
      expect(await site.outcomes()).toEqual({ a3: null })
    }
    own.free()
    await goesOn(site, 0)
  })
})

describe('a report that says the disk is full', () => {
  const full = { runner_error: "cp: error copying 'a' to 'b': No space left on device" }

  it('is an error for a person when no code of the order ran', () => {
    const refused = () => refuseFullDisk('/work', aReport([], full))
    expect(refused).toThrow('no room is left to lay out what is measured in /work: the disk is full')
    expect(refused).toThrow(UserError)
  })

  it('counts after a set-up, a gate or the harness ran, which may have filled the disk', () => {
    const ran = [
      aReport([run('base', { bytes: 1 })], full),
      aReport([], { ...full, setups: [setUp('exp-001', true)] }),
      aReport([], { ...full, gates: [gateRun('exp-001', 'tests')] }),
      aReport([], { runner_error: 'EACCES: permission denied' }),
      aReport([]),
    ]
    for (const report of ran) expect(refuseFullDisk('/work', report)).toBe(report)
  })
})
