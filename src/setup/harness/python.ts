import type { Entry } from '../findings.ts'
import { scriptHarness } from './script.ts'
import type { Skeleton, SkeletonOf } from './skeleton.ts'
import { headComment, workloadComment } from './words.ts'

export function pythonHarness(of: SkeletonOf): Skeleton {
  return scriptHarness(of, { extension: 'py', interpreter: of.interpreter, text })
}

function text(command: string, entry: Entry | null): string {
  const module = entry?.kind === 'module' ? entry.path : null
  return `${headComment('#', command)}
import json
import time
${module === null ? '' : `import importlib\n\nimport ${module} as subject\n`}

${workloadComment('#', module === null ? 'return parse(text)' : 'return subject.parse(text)', entry)}
def workload():
${module === null ? '    return " ".join(str(n) for n in sorted((i * 7919) % 10007 for i in range(10000)))' : '    return repr(dir(importlib.reload(subject)))'}
# ================================


answer = None


def took(calls):
    """Seconds of that many calls."""
    global answer
    start = time.perf_counter()
    for _ in range(calls):
        answer = workload()
    return time.perf_counter() - start


calls = 1
while took(calls) < 0.005:
    calls *= 2
times = sorted(took(calls) / calls for _ in range(15))
print(json.dumps({"milliseconds": times[7] * 1000, "output_bytes": len(str(answer))}))
`
}
