import { resolve } from 'node:path'
import type { RepositoryContext } from '../engine/campaign/open.ts'
import type { AttestationService } from '../github/attestations.ts'
import { forgetLostBranches, rebuildViews, recoverBranches } from '../engine/campaign/recover.ts'
import { writeAnchor } from '../engine/verify/attestation.ts'
import { auditLedger, replayLedger } from '../engine/verify/audit.ts'
import { locateAuditMemory } from '../engine/verify/branches.ts'
import { renderAudit, renderReplay } from '../report/event-log.ts'
import { findGithub, findToken, isOnGithub } from './action-pin.ts'
import { readGivenFile, withCampaign } from './context.ts'
import { type Call, refuseOptions, type Verb } from './verb.ts'

export const auditVerb: Verb = {
  name: 'audit',
  group: 'more',
  summary: 'check from git that every commit on the optimize branch is recorded as measured',
  access: 'read',
  arguments: [{ name: 'campaign', summary: 'the campaign, if there are several' }],
  options: [
    { name: 'seen', value: 'file', summary: 'store the last audited ledger in this file, not in the cache' },
    {
      name: 'accept-replacement',
      summary: 'accept that the ledger was replaced, and store the new one',
    },
    {
      name: 'require-attested',
      summary: 'fail unless a trusted signature, an anchor or GitHub vouches for every event',
    },
    {
      name: 'trusted-root',
      value: 'file',
      summary: 'for a private repository: the output of gh attestation trusted-root',
    },
  ],
  examples: [
    'winnow audit',
    'winnow audit parser --json',
    'winnow audit --seen ../audited.json',
    'winnow audit --require-attested',
  ],
  exits: {
    1: 'the audit found a mismatch, the ledger was replaced since the last audit, or it is not attested as required',
  },
  run(call) {
    if (!call.given.flag('require-attested'))
      refuseOptions(call, ['trusted-root'], 'needs --require-attested', 'give both')
    return withCampaign(
      call,
      { access: 'read', startedOnly: true, spec: call.given.positionals[0] },
      async ({ campaignContext, repositoryContext }) => {
        const given = call.given.text('seen')
        const memory = locateAuditMemory(
          campaignContext,
          given === undefined ? null : resolve(call.environment.directory, given),
        )
        const acceptReplacement = call.given.flag('accept-replacement')
        const required = call.given.flag('require-attested')
        const service = required ? await openAttestationService(call, repositoryContext) : null
        const result = await auditLedger(
          campaignContext,
          { memory, acceptReplacement },
          { required, service },
        )
        if (call.given.flag('json')) call.terminal.json(result)
        else for (const line of renderAudit(result)) call.terminal.out(line)
        return result.ok ? 0 : 1
      },
    )
  },
}

/** Loads the code for certificates only here: no other command needs it. */
async function openAttestationService(
  call: Call,
  repositoryContext: RepositoryContext,
): Promise<AttestationService | null> {
  const { environment, given } = call
  const github = findGithub(repositoryContext, environment.env)
  if (github === null || !isOnGithub(repositoryContext, environment.env)) return null
  const file = given.text('trusted-root')
  const trustedRoots =
    file === undefined
      ? null
      : await readGivenFile(call, file, 'gh attestation trusted-root > roots.jsonl writes it')
  const { createAttestationService } = await import('../github/attestations.ts')
  const token = await findToken(github, environment.env)
  return createAttestationService({ ...github, token, web: environment.web ?? fetch, trustedRoots })
}

export const anchorVerb: Verb = {
  name: 'anchor',
  group: 'more',
  summary: 'audit the ledger, then vouch for it with a tag that git signs with your key',
  access: 'write',
  arguments: [{ name: 'campaign', summary: 'the campaign, if there are several' }],
  examples: ['winnow anchor', 'winnow anchor --dry-run'],
  exits: { 1: 'the audit found a problem, so nothing was signed' },
  run: call =>
    withCampaign(
      call,
      { access: 'write', startedOnly: true, spec: call.given.positionals[0] },
      async ({ campaignContext, dryRun }) => {
        const memory = locateAuditMemory(campaignContext, null)
        const result = await auditLedger(campaignContext, { memory, acceptReplacement: false })
        if (!result.ok) {
          for (const line of renderAudit(result)) call.terminal.out(line)
          call.terminal.out('winnow signed nothing, because the audit found a problem.')
          return 1
        }
        const { tag, events, isNew } = await writeAnchor(campaignContext, result.tip)
        if (dryRun !== null) return 0
        call.terminal.out(
          isNew
            ? `Signed and pushed the tag ${tag}: it vouches for ${events} events of ${campaignContext.name}.`
            : `The tag ${tag} already vouches for all ${events} events of ${campaignContext.name}.`,
        )
        return 0
      },
    ),
}

export const replayVerb: Verb = {
  name: 'replay',
  group: 'more',
  summary: 'compute every verdict again from the ledger, and list those that differ',
  access: 'read',
  arguments: [{ name: 'campaign', summary: 'the campaign, if there are several' }],
  examples: ['winnow replay', 'winnow replay --json'],
  exits: { 1: 'a verdict differs' },
  run: call =>
    withCampaign(
      call,
      { access: 'read', startedOnly: true, spec: call.given.positionals[0] },
      async ({ campaignContext }) => {
        const result = await replayLedger(campaignContext)
        if (call.given.flag('json')) call.terminal.json(result)
        else for (const line of renderReplay(campaignContext.name, result)) call.terminal.out(line)
        return result.ok ? 0 : 1
      },
    ),
}

export const recoverVerb: Verb = {
  name: 'recover',
  group: 'more',
  summary: 'restore branches of a campaign that were deleted or rewound',
  access: 'write',
  options: [
    {
      name: 'forget',
      summary: 'the branches were deleted on purpose; stop offering to restore them',
    },
  ],
  examples: ['winnow recover', 'winnow recover --dry-run'],
  run: call =>
    withCampaign(call, { access: 'write', startedOnly: false }, async ({ campaignContext, dryRun }) => {
      if (call.given.flag('forget')) {
        if (dryRun === null) forgetLostBranches(campaignContext)
        call.terminal.out(`winnow forgot the cached branches of campaign ${campaignContext.name}.`)
        return 0
      }
      const recovered = await recoverBranches(campaignContext)
      if (dryRun !== null) return 0
      for (const { branch, to, what } of recovered) call.terminal.out(`Put ${branch} back at ${to}: ${what}.`)
      if (recovered.length === 0) call.terminal.out('Nothing to restore: every branch matches the ledger.')
      return 0
    }),
}

export const rebuildVerb: Verb = {
  name: 'rebuild',
  group: 'more',
  summary: 'write the views and the checkpoint of the ledger again',
  access: 'write',
  examples: ['winnow rebuild'],
  run: call =>
    withCampaign(call, { access: 'write', startedOnly: true }, async ({ campaignContext, dryRun }) => {
      const changed = await rebuildViews(campaignContext)
      if (dryRun === null)
        call.terminal.out(
          changed
            ? 'Wrote the views and the checkpoint again.'
            : 'The views and the checkpoint are up to date.',
        )
      return 0
    }),
}
