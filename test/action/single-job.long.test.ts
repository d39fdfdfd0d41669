import { execFileSync } from 'node:child_process'
import { chownSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { letters, SIZE_SPEC } from '../support/size-repository.ts'
import type { EmulatedGithub } from '../github/emulator/github.ts'
import { scratch } from '../git/scratch.ts'
import { sceneOf } from '../github/scene.ts'
import { asRunner, SUDO_ROOT } from '../measure/in-namespace.ts'
import { isRoot, throwAwayUsers } from '../measure/throw-away-users.ts'
import { job, onGithub } from './a-campaign.ts'
import { jobClone } from './a-job.ts'
import type { Ended } from './a-runner.ts'
import { releaseTest } from '../support/cases.ts'

/** Whole campaigns, each in one job. */
const SLOW = { timeout: 240_000 }
const RUNNER = 98_000 + (process.pid % 900)
/** Says at the end whether the job's user may still become root. */
const AFTER = `setpriv --reuid ${RUNNER} --regid ${RUNNER} --clear-groups -- sudo --non-interactive id -u; true`

/** Fails where the code of an experiment is root, may become root, or reads the token anywhere. */
const SPY = `
test "$(id -u)" != 0 || exit 7
if sudo --non-interactive true 2> /dev/null; then exit 8; fi
if cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2> /dev/null | tr '\\0' '\\n' | grep -qFf bench/token; then exit 9; fi
`
const COUNT = `printf '{"bytes": %s}' "$(cat src/*.txt | wc -c)"\n`

function eventsOf(github: EmulatedGithub): Record<string, unknown>[] {
  const { dir } = jobClone(github.bare, 'optimize-state/size')
  const files = execFileSync('git', ['-C', dir, 'ls-files', 'events'], { encoding: 'utf8' }).trim()
  return files.split('\n').map(name => JSON.parse(readFileSync(join(dir, name), 'utf8')))
}

const ofKind = (github: EmulatedGithub, kind: string) =>
  eventsOf(github).filter(each => each['kind'] === kind)

function flagsOf(github: EmulatedGithub): unknown[] {
  return ofKind(github, 'measured').flatMap(({ report }) => {
    const { flags } = JSON.parse(JSON.stringify(report))
    return [flags]
  })
}

/** A branch of a fork, offered by somebody who may only read. */
async function offerFromFork(github: EmulatedGithub): Promise<void> {
  const scene = sceneOf(github)
  const fork = github.fork('eve')
  const head = scene.commit('spare', { 'src/b.txt': letters('b', 2) }, [scene.tip('main')])
  scene.git('push', '-q', fork, `+${head}:refs/heads/better`)
  scene.git('update-ref', '-d', 'refs/heads/spare')
  const eve = github.token('eve', { permission: 'read' })
  const offer = { title: 'better', head: 'eve:better', base: 'optimize/size' }
  const answer = await scene.ask(eve, 'POST /pulls', offer)
  expect(answer.status).toBe(201)
}

interface Given {
  harness: string
  spec?: string
  files?: Record<string, string>
}

async function campaign({ harness, spec = SIZE_SPEC, files = {} }: Given) {
  const begun = await onGithub({ '.winnow/size.yaml': spec, ...files })
  begun.scene.commit('main', { 'bench/size.sh': harness, 'bench/token': begun.token })
  return begun
}

/** Shells lose variables whose names have hyphens, as that of the token has: it is given once they are passed. */
const WITH_TOKEN = `
const [file, program, ...args] = process.argv.slice(1)
const env = { ...process.env, 'INPUT_GITHUB-TOKEN': require('node:fs').readFileSync(file, 'utf8') }
process.exit(require('node:child_process').spawnSync(program, args, { env, stdio: 'inherit' }).status)
`

/** The job of a hosted runner, whose user may become root. */
function hosted(github: EmulatedGithub, token: string, users = throwAwayUsers()): Promise<Ended> {
  const file = join(scratch(), 'token')
  writeFileSync(file, token, { mode: 0o600 })
  for (const path of [dirname(file), file]) chownSync(path, RUNNER, RUNNER)
  return job(github, 'main', {
    inputs: { command: 'run' },
    env: { RUNNER_ENVIRONMENT: 'github-hosted' },
    owner: RUNNER,
    through: argv => asRunner(users, RUNNER, [process.execPath, '-e', WITH_TOKEN, file, ...argv], AFTER),
  })
}

describe.skipIf(!isRoot || SUDO_ROOT === '')('a single job whose user may become root', SLOW, () => {
  it('measures with users of their own while root holds the token', async () => {
    const { github, token } = await campaign({ harness: SPY + COUNT })
    const ended = await hosted(github, token)
    expect([ended.code, ended.stdout]).toEqual([0, expect.anything()])
    expect(ended.result).toMatchObject({ paused: false, waiting: { for: 'ideas' } })
    for (const flags of flagsOf(github)) expect(flags).not.toContain('unisolated')
    expect(ofKind(github, 'merged')).toHaveLength(1)
    expect(ended.handedOn).toBe('')
    // Nobody may become root in this job any more.
    expect(ended.stdout.split('\n')).not.toContain('0')
    expect(statSync(ended.workspace).mode & 0o777).toBe(0o700)
  })

  releaseTest('asks programs as a user of its own as well', async () => {
    const think = `${SPY}test -O "$HOME" || exit 6\ntest "$(wc -c < src/a.txt)" = 16 || exit 3\necho aaa > src/a.txt\necho '{"hypothesis": "three letters do"}'\n`
    const spec = SIZE_SPEC.replace(
      /propose: .*/,
      'propose: [{ use: command, command: sh tools/think.sh, name: thinker }]\nexecution: { mode: serial }\nstopping: { max_iterations: 1 }\nmerge: { forgeable: allow }',
    )
    const { github, token, scene } = await campaign({ harness: SPY + COUNT, spec })
    scene.commit('main', { 'tools/think.sh': think })
    const ended = await hosted(github, token)
    expect([ended.code, ended.stdout]).toEqual([0, expect.anything()])
    expect(ofKind(github, 'merged')).toHaveLength(1)
  })

  releaseTest(
    'goes on as its user where the project cannot be measured that way, and refuses outsiders at once',
    async () => {
      const needs = `test "$(id -u)" = ${RUNNER} || { echo 'no tool for you' >&2; exit 3; }\n`
      const sudo = 'if sudo --non-interactive true 2> /dev/null; then exit 8; fi\n'
      const spec = `${SIZE_SPEC}merge: { unisolated: allow, forgeable: allow }\n`
      const { github, token } = await campaign({ harness: needs + sudo + COUNT, spec })
      const first = await hosted(github, token)
      const why = 'Isolation: none, because as a separate user, the harness fails: no tool for you.'
      expect([first.code, first.stdout]).toEqual([0, expect.stringContaining(why)])
      expect(first.summary).toContain('winnow measures only ideas of people with write access.')
      expect(first.stdout.split('\n')).not.toContain('0')
      for (const flags of flagsOf(github)) expect(flags).toContain('unisolated')
      expect(ofKind(github, 'merged')).toHaveLength(1)
      await offerFromFork(github)
      expect((await hosted(github, token)).code).toBe(0)
      expect(ofKind(github, 'experiment-refused')).toMatchObject([
        { code: 'unisolated', message: expect.stringContaining('eve has no write access') },
      ])
    },
  )
})

describe('a single job whose user may not become root', SLOW, () => {
  it('says so, keeps the token where no experiment sees it, empties the files of the runner, and measures nothing of outsiders', async () => {
    const spy =
      "if cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2> /dev/null | tr '\\0' '\\n' | grep -qFf bench/token; then exit 9; fi\n"
    const files = 'for f in "$HOME"/temp/_runner_file_commands/*; do echo STOLEN=1 >> "$f"; done\n'
    const spec = `${SIZE_SPEC}merge: { unisolated: allow, forgeable: allow }\n`
    const { github, token } = await campaign({ harness: spy + files + COUNT, spec })
    const run = () => job(github, 'main', { inputs: { command: 'run', 'github-token': token } })
    const first = await run()
    expect([first.code, first.handedOn]).toEqual([0, ''])
    expect(first.summary).not.toContain('STOLEN')
    expect(Object.keys(first.outputs)).not.toContain('STOLEN')
    expect(first.stdout).toContain('winnow measures only ideas of people with write access.')
    expect(first.result).toMatchObject({ paused: false, waiting: { for: 'ideas' } })
    for (const text of [first.stdout, first.summary]) {
      expect(text).toContain('Waiting for ideas: no idea is queued, and no proposer has another.')
      expect(text).toMatch(/size: 1 experiment: 1 kept; the incumbent is [0-9a-f]{12}\./)
    }
    expect(first.stdout.trimEnd().split('\n').at(-1)).toBe(
      'To submit an idea, open a pull request against optimize/size.',
    )
    const measured = ofKind(github, 'measured').length
    await offerFromFork(github)
    expect((await run()).code).toBe(0)
    expect(ofKind(github, 'experiment-refused')).toMatchObject([{ code: 'unisolated' }])
    expect(ofKind(github, 'measured')).toHaveLength(measured)
    expect(readdirSync(join(first.home, 'temp'))).not.toContain('STOLEN')
    // The spy saw the token nowhere.
    expect(ofKind(github, 'merged')).toHaveLength(1)
  })
})
