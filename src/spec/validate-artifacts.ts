import type { SpecFinding, SpecPath } from './errors.ts'
import {
  getGivenValue,
  reportFinding,
  reportRepeatedNames,
  type RuleContext,
  type SpecRule,
} from './rule-context.ts'
import { compileScope, explainOutsidePath } from './scope.ts'
import { getArtifactPath } from './spec-facts.ts'

/** Rules of artifacts, of text gradients and of epochs. */
export const ARTIFACT_RULES: readonly SpecRule[] = [
  requireUniqueArtifacts,
  requireArtifactPaths,
  requireMutableArtifacts,
  refuseLearnedGrader,
  checkPins,
  checkTextGradients,
  checkBaselinePasses,
]

function requireUniqueArtifacts({ spec }: RuleContext): SpecFinding[] {
  const names = reportRepeatedNames('artifacts', spec.artifacts, 'a name no other artifact has')
  const paths = spec.artifacts.map(getArtifactPath)
  const repeated = paths.flatMap((path, at) =>
    path === null || paths.indexOf(path) === at
      ? []
      : reportFinding(['artifacts', at, 'path'], path, 'a file no other artifact has', 'name another file'),
  )
  return [...names, ...repeated]
}

function requireArtifactPaths({ spec }: RuleContext): SpecFinding[] {
  return spec.artifacts.flatMap((artifact, at) =>
    getArtifactPath(artifact) !== null
      ? []
      : reportFinding(['artifacts', at, 'path'], 'nothing', 'a file', 'add path: prompts/<file>', 'key'),
  )
}

/** Spec, rubric, weights and harness are outside scope.mutable, so what grades can never be learned. */
function requireMutableArtifacts({ spec }: RuleContext): SpecFinding[] {
  const { isMutable } = compileScope(spec)
  return spec.artifacts.flatMap((artifact, at) => {
    const path = getArtifactPath(artifact)
    if (path === null || isMutable(path) || explainOutsidePath(path) !== undefined) return []
    const isOwn = path === '.winnow' || path.startsWith('.winnow/')
    const fix = isOwn
      ? 'remove it: the spec, its rubric and its weights grade the artifacts and are never learned'
      : 'add it to scope.mutable, unless it is part of what measures'
    return reportFinding(['artifacts', at, 'path'], path, 'a file that experiments may change', fix)
  })
}

/** Its weight in a loss without weights of its own. */
const DEFAULT_CRITIQUE = 0.3

/** The text that grades must not be learned by its own grades. */
function refuseLearnedGrader({ spec }: RuleContext): SpecFinding[] {
  const { primary, loss } = spec.metric
  const share =
    primary.type === 'loss' ? (loss === null ? DEFAULT_CRITIQUE : (loss.weights['critique'] ?? 0)) : 0
  if (share === 0) return []
  return spec.artifacts.flatMap(({ name }, at) =>
    name === 'critique_rubric'
      ? reportFinding(
          ['artifacts', at, 'name'],
          name,
          'a text that does not grade the runs',
          `remove it, or set metric.loss.weights.critique: 0; the critique is ${share * 100} % of the loss`,
        )
      : [],
  )
}

/** Versions are commits of a campaign, which has none but the committed file when it starts. */
function checkPins({ spec }: RuleContext): SpecFinding[] {
  const known = spec.artifacts.map(({ name }) => name)
  return Object.entries(spec.baseline_artifacts).flatMap(([name, version]) => {
    const path = ['baseline_artifacts', name]
    if (!known.includes(name)) return reportUnknownArtifact(path, name, known)
    if (version === 0) return []
    const fix = `set it to 0. To start with another text, commit that text; winnow inspect --artifact ${name} --text ${version} prints one that a campaign has. A campaign that runs returns to it by winnow rollback ${name} ${version}`
    return reportFinding(path, String(version), '0, the file as it is committed', fix)
  })
}

function checkTextGradients({ spec }: RuleContext): SpecFinding[] {
  const known = spec.artifacts.map(({ name }) => name)
  const gradients = spec.propose.flatMap((each, at) => (each.use === 'textgrad' ? [{ at, ...each }] : []))
  return gradients.flatMap(({ at, artifacts }, index) => {
    const path = ['propose', at]
    if (index > 0) return reportFinding(path, 'a second textgrad', 'one', 'remove one of the two')
    if (spec.epochs === null)
      return reportFinding(path, 'textgrad', 'epochs, which show what went wrong', 'add epochs: { count: 5 }')
    if (known.length === 0)
      return reportFinding(path, 'textgrad', 'an artifact to rewrite', 'add artifacts: [{ name, path }]')
    return artifacts.flatMap((name, which) =>
      known.includes(name) ? [] : reportUnknownArtifact([...path, 'artifacts', which], name, known),
    )
  })
}

function reportUnknownArtifact(path: SpecPath, name: string, known: readonly string[]): SpecFinding[] {
  const fix = known.length === 0 ? 'add it to artifacts' : `write one of ${known.join(', ')}`
  return reportFinding(path, JSON.stringify(name), 'the name of an artifact', fix)
}

function checkBaselinePasses({ spec, raw }: RuleContext): SpecFinding[] {
  if (spec.epochs?.compat !== 'awp' || getGivenValue(raw, 'epochs.baseline') === undefined) return []
  const fix = 'remove it: AWP counts every pass as an epoch, and has no band'
  return reportFinding(
    'epochs.baseline',
    String(spec.epochs.baseline),
    'nothing with compat: awp',
    fix,
    'key',
  )
}
