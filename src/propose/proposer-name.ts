import { basename } from 'node:path'
import type { Campaign } from '../model/campaign.ts'
import type { Spec } from '../spec/schema.ts'
import { toSafeLine } from './quoted-text.ts'

type ProposerSpec = Spec['propose'][number]

const LONGEST = 60
const ASSIGNMENT = /^[A-Za-z_]\w*=/

/** The name a proposer is benched and thanked by: the same in every run. */
export function getProposerName(proposer: ProposerSpec): string {
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

/** `KEY=secret claude -p` is named claude: what is set for the program alone may not be for everybody's eyes. */
function getProgramName(command: string): string {
  const program = command.split(/\s+/).find(word => word !== '' && !ASSIGNMENT.test(word)) ?? ''
  return toSafeLine(basename(program), LONGEST) || 'unnamed'
}

/** After three failures in a row it is not asked any more. */
export function isProposerDisabled(campaign: Pick<Campaign, 'proposers'>, name: string): boolean {
  return Object.hasOwn(campaign.proposers, name) && campaign.proposers[name]?.benched === true
}
