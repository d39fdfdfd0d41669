import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { deferredOf } from './approval-text.ts'
import { table } from './table.ts'

/** Where the demo lies, and how winnow is called there. */
export interface DemoPlace {
  directory: string
  /** `winnow`, or what was typed instead. */
  called: string
  /** All that it left on this machine. */
  leftovers: readonly string[]
}

export function demoBegins({ directory }: Pick<DemoPlace, 'directory'>): string[] {
  return [
    'A small program packs messages into bytes; ten ideas want it to need fewer. Every message has to come back.',
    `  ${directory}`,
    '  .winnow/squeeze.yaml says what counts, ideas/ holds what is tried; nothing of it needs a network or a model.',
    '',
  ]
}

/** What a person types next, each as it can be typed. */
export function demoEnds(campaign: Campaign, { directory, called, leftovers }: DemoPlace): string[] {
  const next = nextCommands(campaign).map(([words, why]) => [`  ${called} ${words}`, `# ${why}`])
  return [
    'Next:',
    `  cd ${quoted(directory)}`,
    ...table(next),
    'To remove all of it:',
    `  rm -rf ${leftovers.map(quoted).join(' ')}`,
  ]
}

function nextCommands(campaign: Campaign): [words: string, why: string][] {
  const dropped = withOutcome(campaign, 'runner_up_dropped')
  const [deferred] = deferredOf(campaign)
  const commands: [string, string][] = [['audit', 'every commit that was kept, proven from git alone']]
  if (dropped)
    commands.unshift([`show ${dropped.id}`, 'promising alone, and harmful on top of what was kept'])
  if (deferred) {
    commands.push(
      ['approve', `what ${deferred.id} would add`],
      [`approve ${deferred.id}`, 'say yes to it'],
      ['run', 'and measure it'],
    )
  }
  return commands
}

function withOutcome({ experiments }: Campaign, outcome: Experiment['outcome']): Experiment | undefined {
  return Object.values(experiments).find(each => each.outcome === outcome)
}

/** As a shell reads it back. */
export function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`
}
