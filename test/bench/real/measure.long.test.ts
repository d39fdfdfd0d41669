import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { RealCommit } from '../../../bench/real/commits.ts'
import { measureCommits, type MeasureOptions } from '../../../bench/real/measure.ts'
import { readResults } from '../../../bench/real/results.ts'
import { describeProgram, prepareSide } from '../../../bench/real/sides.ts'
import { renderReport } from '../../../bench/real/table.ts'
import { measureTruth, watchLoad } from '../../../bench/real/truth.ts'
import { scratch, userRepository } from '../../git/scratch.ts'

const COUNT_LINES = 'echo "{\\"steps\\": $(wc -l < lines), \\"answer\\": 7}"\n'

function makeLines(count: number): string {
  return 'a line\n'.repeat(count)
}

/** Two libraries: a gain of a fifth, and a change of a comment. */
function makeLibraries() {
  const clones = scratch('winnow-real-clones-')
  const workloads = join(scratch('winnow-real-'), 'workloads')
  mkdirSync(workloads)
  writeFileSync(join(workloads, 'count.sh'), COUNT_LINES)
  const commit = (
    name: string,
    before: Record<string, string>,
    after: Record<string, string>,
  ): RealCommit => {
    const user = userRepository({ dir: join(clones, 'example', name), empty: true })
    const parent = user.commit('before', before)
    const head = user.commit('after', after)
    return {
      repository: `example/${name}`,
      parent,
      commit: head,
      workload: 'count.sh',
      claim: name === 'gain' ? 'gain' : 'no-op',
      change: 'a change of the test',
      metric: 'steps',
    }
  }
  const gain = commit('gain', { lines: makeLines(100) }, { lines: makeLines(80) })
  const nothing = commit(
    'nothing',
    { lines: makeLines(100), notes: 'a\n' },
    { lines: makeLines(100), notes: 'b\n' },
  )
  const said: string[] = []
  const options: MeasureOptions = {
    clones,
    workloads,
    out: join(workloads, '..', 'results.json'),
    builds: {},
    pairs: 3,
    core: null,
    home: scratch('winnow-real-home-'),
    anyLoad: true,
    say: line => said.push(line),
    signal: new AbortController().signal,
  }
  const taken: RealCommit = { ...gain, claim: 'regression', backwards: true }
  return { gain, nothing, taken, options, said }
}

describe('the runner on two repositories', () => {
  it('measures the truth and asks winnow, continues where it stopped, and prints the table', async () => {
    const { gain, nothing, taken, options } = makeLibraries()
    expect(await measureCommits([gain], options)).toBe(0)
    const first = readFileSync(options.out, 'utf8')
    const found = readResults(options.out)?.results ?? []
    expect(found).toHaveLength(1)
    expect(found[0]).toMatchObject({ same_answers: true, pairs: 3, counted: null, backwards: false })
    for (const value of Object.values(found[0]?.gain ?? {})) expect(value).toBeCloseTo(0.2)
    expect(found[0]?.winnow.verdict).toBe('better')

    expect(await measureCommits([gain, nothing, taken], options)).toBe(0)
    const { results = [] } = readResults(options.out) ?? {}
    expect(JSON.stringify(results[0])).toBe(JSON.stringify(JSON.parse(first).results[0]))
    expect(results.map(({ winnow }) => winnow.verdict)).toEqual(['better', 'no gain', 'worse'])
    expect(results.map(({ gain: { estimate } }) => Number(estimate.toFixed(3)))).toEqual([0.2, 0, -0.25])

    const file = readResults(options.out)
    const rows = [gain, nothing, taken].map((entry, at) => ({ entry, result: results[at] ?? expect.fail() }))
    const text = file === null ? '' : renderReport(file, rows)
    expect(text).toContain('winnow compare on 3 public commits of 2 libraries in 1 languages')
    expect(text).toMatch(/^all +3 +1 +1 +0 +1 +0 +0$/m)
  })

  it('says what it cannot measure, and measures again when a workload changes', async () => {
    const { gain, options, said } = makeLibraries()
    const elsewhere: RealCommit = { ...gain, repository: 'example/elsewhere' }
    const unknown: RealCommit = { ...gain, commit: 'c'.repeat(40) }
    const compiled: RealCommit = { ...gain, workload: 'count.c' }
    writeFileSync(join(options.workloads, 'count.c'), '')
    expect(await measureCommits([elsewhere, unknown, compiled], options)).toBe(3)
    expect(said.join('\n')).toContain('there is no clone of example/elsewhere')
    expect(said.join('\n')).toContain('does not have the commit and its parent')
    expect(said.join('\n')).toContain('C needs a build command (--builds)')
    expect(readResults(options.out)).toBeNull()

    await measureCommits([gain], options)
    writeFileSync(join(options.workloads, 'count.sh'), `${COUNT_LINES}true\n`)
    await measureCommits([gain], options)
    expect(readResults(options.out)?.results).toHaveLength(2)
  })

  it('refuses a file of another machine or of another load', async () => {
    const { gain, options } = makeLibraries()
    await measureCommits([gain], options)
    await expect(measureCommits([gain], { ...options, anyLoad: false })).rejects.toThrow('--any-load')
    const file = JSON.parse(readFileSync(options.out, 'utf8'))
    writeFileSync(options.out, JSON.stringify({ ...file, machine: { ...file.machine, cores: 999 } }))
    await expect(measureCommits([gain], options)).rejects.toThrow('another machine')
  })

  it('builds what is compiled with the command of the person, and counts its instructions', async () => {
    const { gain, options } = makeLibraries()
    const loop = 'while read -r _; do i=0; while [ $i -lt 30 ]; do i=$((i + 1)); done; done < lines'
    const workload = join(options.workloads, 'loop.c')
    writeFileSync(workload, `#!/bin/sh\n${loop}\necho "{}"\n`)
    const program = describeProgram(workload, {
      build: 'cp "$WORKLOAD" workload && chmod +x workload',
      core: null,
    })
    const [clone, base, head] = [
      join(options.clones, gain.repository),
      join(options.workloads, 'base'),
      join(options.workloads, 'head'),
    ]
    await prepareSide(clone, gain.parent, base, program)
    await prepareSide(clone, gain.commit, head, program)
    const request = {
      program,
      base,
      head,
      pairs: 1,
      metric: null,
      watch: () => watchLoad(null),
      signal: options.signal,
    }
    const { counted, same_answers } = await measureTruth(request)
    expect(same_answers).toBe(true)
    // Without valgrind it is the CPU time, which a test cannot foresee.
    if (counted?.by === 'instructions') expect(counted.gain).toBeGreaterThan(0.1)
    else expect(counted?.by).toBe('CPU time')
  })

  it.skipIf(process.platform !== 'linux')(
    'runs workloads on the core that they have for themselves',
    async () => {
      const { gain, options } = makeLibraries()
      const isPinned = "grep -qx 'Cpus_allowed_list:[[:space:]]*0' /proc/self/status"
      writeFileSync(join(options.workloads, 'count.sh'), `${isPinned} || exit 1\n${COUNT_LINES}`)
      expect(await measureCommits([gain], { ...options, core: 0 })).toBe(0)
    },
  )

  it('goes on after a commit that fails', async () => {
    const { gain, nothing, options, said } = makeLibraries()
    writeFileSync(join(options.workloads, 'fails.sh'), 'echo no such function >&2; exit 1\n')
    expect(await measureCommits([{ ...gain, workload: 'fails.sh' }, nothing], options)).toBe(1)
    expect(said.join('\n')).toMatch(/^example\/gain \w{10}: not measured: .*\n?no such function/m)
    expect(readResults(options.out)?.results).toHaveLength(1)
  })

  it('records no commit that winnow cannot compare', async () => {
    const { gain, options, said } = makeLibraries()
    const failWith = (condition: string) =>
      writeFileSync(
        join(options.workloads, 'count.sh'),
        `[ -z "$WINNOW_RESULT_PATH" ] || ${condition} || exit 1\n${COUNT_LINES}`,
      )
    failWith('false')
    expect(await measureCommits([gain], options)).toBe(1)
    expect(said.at(-1)).toMatch(
      /^example\/gain \w{10}: not measured: winnow compare ended with exit code \d+/,
    )
    failWith('[ "$(wc -l < lines)" = 100 ]')
    expect(await measureCommits([gain], options)).toBe(1)
    expect(said.at(-1)).toMatch(/^example\/gain \w{10}: not measured: winnow compare could not compare/)
    expect(readResults(options.out)).toBeNull()
  })

  it('stops at an interruption', async () => {
    const { gain, options } = makeLibraries()
    const signal = AbortSignal.abort(new Error('interrupted'))
    await expect(measureCommits([gain], { ...options, signal })).rejects.toThrow('interrupted')
  })

  it('records nothing while other programs are running', async () => {
    const { gain, options, said } = makeLibraries()
    const measureWith = (...shares: number[]) => {
      const watch = () => ({ computeOthersShare: () => shares.shift() ?? 0 })
      return measureCommits([gain], { ...options, anyLoad: false, load: { watch, sampleMs: 1 } })
    }
    expect(await measureWith(...Array.from({ length: 60 }, () => 0.3))).toBe(1)
    expect(said).toContain('waiting: other programs use 30 % of the processors')
    expect(said.at(-1)).toBe('not measured: other programs use 30 % of the processors')
    expect(await measureWith(0, 0.4, 0)).toBe(1)
    expect(said.at(-1)).toContain('not recorded: other programs used 40 % of the processors')
    expect(await measureWith(0, 0, 0.2)).toBe(1)
    expect(said.at(-1)).toContain('not recorded: other programs used 20 % of the processors')
    expect(readResults(options.out)).toBeNull()
    expect(await measureWith(0.3, 0, 0.04, 0.03)).toBe(0)
    expect(readResults(options.out)?.results).toHaveLength(1)
  })

  it('sees other answers', async () => {
    const { gain, options } = makeLibraries()
    writeFileSync(
      join(options.workloads, 'count.sh'),
      'n=$(wc -l < lines); echo "{\\"steps\\": $n, \\"answer\\": $n}"\n',
    )
    await measureCommits([gain], options)
    expect(readResults(options.out)?.results[0]?.same_answers).toBe(false)
  })
})
