import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { basename, delimiter, join } from 'node:path'
import { MODEL_KEY } from '../measure/environment.ts'
import type { Campaign } from '../model/campaign.ts'
import { buildCommandKey, TEXT_GRADIENT } from '../model/fold/proposers.ts'
import { getOwnValue } from '../model/own-value.ts'
import { quoteShell, toSafeLine } from '../model/text.ts'
import type { Spec } from '../spec/schema.ts'

export type CommandProposer = Extract<Spec['propose'][number], { use: 'command' }>
export type Preset = NonNullable<CommandProposer['preset']>

interface AgentBrief {
  text: string
  /** A path outside the tree. */
  file: string
}

/**
 * Arguments for unattended work: the agent may edit the tree and does not ask. All agents get the brief on
 * standard input; those that do not read their task there also get it in their arguments.
 */
const ARGUMENTS = {
  claude: () => ['--print', '--permission-mode', 'acceptEdits'],
  codex: () => ['exec', '--sandbox', 'workspace-write', '-'],
  gemini: () => ['--skip-trust', '--approval-mode', 'auto_edit', '--prompt', 'Do what the text above asks.'],
  copilot: ({ text }) => ['--silent', '--allow-all-tools', '--no-ask-user', '--prompt', text],
  opencode: () => ['run'],
  aider: ({ file }) => [
    '--yes-always',
    '--no-auto-commits',
    '--no-dirty-commits',
    '--no-gitignore',
    '--no-check-update',
    '--no-pretty',
    '--no-stream',
    '--message-file',
    file,
  ],
} as const satisfies Record<Preset, (brief: AgentBrief) => readonly string[]>

/** The variable that holds an agent's key. Agents without an entry use one for each model provider. */
const KEY_NAMES: Readonly<Partial<Record<Preset, string>>> = {
  claude: 'ANTHROPIC_API_KEY',
  codex: 'CODEX_API_KEY',
  gemini: 'GEMINI_API_KEY',
  copilot: 'COPILOT_GITHUB_TOKEN',
}

/**
 * The key is always in WINNOW_MODEL_KEY, for the spec's own commands. A preset also gets it under its agent's
 * name.
 */
export function withModelKey(
  { preset, command }: CommandProposer,
  key: string,
  env: Readonly<Record<string, string>>,
): Record<string, string> {
  if (key === '') return { ...env }
  const name = preset === undefined || command !== undefined ? undefined : KEY_NAMES[preset]
  return { ...env, [MODEL_KEY]: key, ...(name === undefined ? {} : { [name]: key }) }
}

export const PRESETS = Object.keys(ARGUMENTS)

export function isPreset(name: string): name is Preset {
  return Object.hasOwn(ARGUMENTS, name)
}

export function buildAgentCommand({ command, preset }: CommandProposer, brief: AgentBrief): string | null {
  if (command !== undefined) return command
  if (preset === undefined) return null
  // Every word is quoted, so a brief cannot inject shell code.
  return `exec ${[preset, ...ARGUMENTS[preset](brief)].map(quoteShell).join(' ')}`
}

/** The first agent, of the spec or the command line, that is not installed. */
export async function findMissingAgent(
  proposers: readonly Spec['propose'][number][],
  env: Readonly<Record<string, string>>,
): Promise<{ what: string; fix: string } | null> {
  for (const proposer of proposers) {
    if (proposer.use !== 'command' || proposer.preset === undefined || proposer.command !== undefined)
      continue
    const { preset } = proposer
    if (await isInstalled(preset, env['PATH'] ?? '')) continue
    const fix = `install ${preset} as its documentation says and sign in once, or write command: instead of preset: ${preset}`
    return { what: `the program ${preset} is not installed: it is not on PATH`, fix }
  }
  return null
}

async function isInstalled(program: string, path: string): Promise<boolean> {
  for (const folder of path.split(delimiter)) {
    if (folder === '') continue
    const runs = await access(join(folder, program), constants.X_OK).then(
      () => true,
      () => false,
    )
    if (runs) return true
  }
  return false
}

// Names

const LONGEST = 60
const ASSIGNMENT = /^[A-Za-z_]\w*=/
/** An assignment before the program, with its quoted spaces. */
const LEADING_ASSIGNMENT = /^\s*[A-Za-z_]\w*=(?:'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s'"\\])*(?=\s|$)/s

export interface NamedProposer {
  /** The ledger records requests, failures and ideas under it. */
  name: string
  proposer: CommandProposer
}

/**
 * Names each program of a spec apart. Where several have the same name, the first keeps it and the others get a number, so
 * that each is asked, and is disabled only for its own failures.
 */
export function nameProposers(proposers: Spec['propose']): NamedProposer[] {
  const commands = proposers.filter(proposer => proposer.use === 'command')
  const toKey = (name: string) => buildCommandKey(name, '')
  const written = new Set(commands.map(each => toKey(getProposerName(each))))
  const given = new Set([toKey(TEXT_GRADIENT)])
  return commands.map(proposer => {
    const own = getProposerName(proposer)
    let name = own
    for (let number = 2; given.has(toKey(name)); number++) {
      const numbered = `${own} ${number}`
      if (!written.has(toKey(numbered))) name = numbered
    }
    given.add(toKey(name))
    return { name, proposer }
  })
}

/** A stable name, which several proposers of a spec may share. */
export function getProposerName(proposer: Spec['propose'][number]): string {
  switch (proposer.use) {
    case 'command':
      return proposer.name === undefined
        ? `command:${proposer.preset ?? getProgramName(proposer.command ?? '')}`
        : toSafeLine(proposer.name, LONGEST)
    case 'patch':
      return `patch:${toSafeLine(proposer.dir, LONGEST)}`
    case 'dispatch':
      return `dispatch:${toSafeLine(proposer.workflow, LONGEST)}`
    case 'external':
    case 'sweep':
    case 'textgrad':
      return proposer.use
    default:
      return proposer satisfies never
  }
}

/** `KEY=secret claude -p` becomes claude: assignments may hold secrets. */
function getProgramName(command: string): string {
  let rest = command
  while (LEADING_ASSIGNMENT.test(rest)) rest = rest.replace(LEADING_ASSIGNMENT, '')
  const [program = ''] = rest.trim().split(/\s+/)
  return (ASSIGNMENT.test(program) ? '' : toSafeLine(basename(program), LONGEST)) || 'unnamed'
}

/** After three failures in a row. */
export function isProposerDisabled(campaign: Pick<Campaign, 'proposers'>, name: string): boolean {
  return getOwnValue(campaign.proposers, name)?.disabled === true
}
