import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { scratch } from '../git/scratch.ts'
import { type Order, ordersIn } from './runner-rules.ts'

const ROOT = new URL('../..', import.meta.url).pathname
const HURRIED = join(ROOT, 'test/action/hurried.cjs')
const WRITING = new Set(['tick', 'settle', 'run'])
/** Where Node 22.1 and newer keep compiled code: every job starts the same bundle. */
const COMPILED = join(ROOT, 'node_modules/.cache/winnow-tests')

/** The Node that action.yml asks for, where `.ci/run` has installed it; else that of the tests. */
const NODE = process.env['NODE24_BINARY'] || process.execPath

export interface Step {
  inputs: Record<string, string>
  /** Where the job stands. */
  workspace: string
  env?: Record<string, string>
  /** What starts it in a place of another kind. */
  through?: (argv: readonly string[]) => readonly string[]
  /** Whose the job's folders are. */
  owner?: number
  /** Called with the step's home before it starts. */
  before?: (home: string) => void
  /** Called with the step's process, while it runs. */
  meanwhile?: (pid: number, home: string) => Promise<void>
}

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
  outputs: Record<string, string>
  result: unknown
  summary: string
  /** Variables, paths and state that the runner would give to later steps. */
  handedOn: string
  /** What a runner would have taken as an order, on either stream. */
  orders: Order[]
  /** What the runner was told to show to nobody. It shows that order to nobody either: `stdout` has it not. */
  masks: string[]
  home: string
  workspace: string
}

/** A step of a job, started as a runner starts a JavaScript action. */
export async function step({
  inputs,
  workspace,
  env = {},
  through,
  owner,
  before,
  meanwhile,
}: Step): Promise<Ended> {
  const home = scratch('winnow-step-')
  const temp = join(home, 'temp')
  const action = winnowAction(inputs['command'] ?? '')
  const argv = through?.(action.argv) ?? action.argv
  const ran = await runStep({
    argv,
    cwd: workspace,
    temp,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: home,
      CI: 'true',
      GITHUB_ACTIONS: 'true',
      GITHUB_WORKSPACE: workspace,
      RUNNER_TEMP: temp,
      ...action.env,
      ...inputVariables(inputs),
      ...env,
    },
    prepare() {
      before?.(home)
      if (owner === undefined) return
      for (const path of [home, workspace, join(workspace, '..')])
        execFileSync('chown', ['-R', `${owner}:${owner}`, path])
    },
    meanwhile: async pid => meanwhile?.(pid, home),
  })
  const answer = ran.outputs['result-json'] ?? ''
  return { ...ran, result: answer === '' ? null : JSON.parse(answer), home, workspace }
}

/** How the built action is started: those of its commands that write to GitHub do not pause between writes. */
export function winnowAction(command: string): { argv: string[]; env: Record<string, string> } {
  const hurries = WRITING.has(command)
  const hurried = hurries ? ['--require', HURRIED] : []
  return {
    argv: [NODE, ...hurried, join(ROOT, 'dist/action.js')],
    env: { NODE_COMPILE_CACHE: COMPILED, ...(hurries ? { WINNOW_REMOTE_TIMEOUT: '600' } : {}) },
  }
}

export function inputVariables(inputs: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(inputs).map(([name, value]) => [
      `INPUT_${name.replaceAll(' ', '_').toUpperCase()}`,
      value,
    ]),
  )
}

export interface Process {
  argv: readonly string[]
  cwd: string
  env: Record<string, string>
  /** RUNNER_TEMP: it holds the files by which a step talks to its runner. */
  temp: string
  /** What the names of those files end with. */
  suffix?: string
  /** Called when those files are there. */
  prepare?: () => void
  meanwhile?: (pid: number) => Promise<void>
}

export interface Ran extends Omit<Ended, 'result' | 'home' | 'workspace'> {
  /** What it wrote for the environment, the path and the state of later steps. */
  variables: Record<string, string>
  paths: string[]
}

/** Any program as a step of a job, with what a runner reads of it. */
export async function runStep(given: Process): Promise<Ran> {
  const { argv, cwd, env, temp, suffix = '', prepare, meanwhile } = given
  const commands = join(temp, '_runner_file_commands')
  const files = {
    GITHUB_OUTPUT: join(commands, `set_output${suffix}`),
    GITHUB_STEP_SUMMARY: join(commands, `step_summary${suffix}`),
    GITHUB_ENV: join(commands, `set_env${suffix}`),
    GITHUB_PATH: join(commands, `add_path${suffix}`),
    GITHUB_STATE: join(commands, `save_state${suffix}`),
  }
  mkdirSync(commands, { recursive: true })
  for (const file of Object.values(files)) writeFileSync(file, '')
  prepare?.()
  const [program = '', ...args] = argv
  const child = spawn(program, args, { cwd, env: { ...files, ...env } })
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', chunk => {
      said[name] += String(chunk)
    })
  const ended = new Promise<number | null>((resolve, reject) =>
    child.once('close', resolve).once('error', reject),
  )
  await Promise.all([ended, meanwhile?.(child.pid ?? 0)])
  const masks = ordersIn(said.stdout).filter(({ command }) => command === 'add-mask')
  const stdout = said.stdout.replace(/^::add-mask::.*\n/gm, '')
  return {
    code: await ended,
    stdout,
    stderr: said.stderr,
    masks: masks.map(({ data }) => data),
    outputs: outputsIn(readFileSync(files.GITHUB_OUTPUT, 'utf8')),
    variables: outputsIn(readFileSync(files.GITHUB_ENV, 'utf8')),
    paths: readFileSync(files.GITHUB_PATH, 'utf8')
      .split('\n')
      .filter(line => line !== ''),
    summary: readFileSync(files.GITHUB_STEP_SUMMARY, 'utf8'),
    handedOn: [files.GITHUB_ENV, files.GITHUB_PATH, files.GITHUB_STATE]
      .map(file => readFileSync(file, 'utf8'))
      .join(''),
    orders: [stdout, said.stderr].flatMap(text => ordersIn(text)),
  }
}

/** As a runner reads the file: `name=value` lines, and `name<<end` blocks. */
export function outputsIn(text: string): Record<string, string> {
  const found: Record<string, string> = {}
  const lines = text.split('\n')
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    const block = /^([^=<]+)<<(.+)$/.exec(line)
    if (block === null) {
      const [name = '', ...value] = line.split('=')
      if (name !== '') found[name] = value.join('=')
      continue
    }
    const end = lines.indexOf(block[2] ?? '', at + 1)
    if (end < 0) throw new Error(`no line ends the output ${block[1]}`)
    found[block[1] ?? ''] = lines.slice(at + 1, end).join('\n')
    at = end
  }
  return found
}
