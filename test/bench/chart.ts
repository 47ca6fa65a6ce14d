import { contenderTitles } from './contender-names.ts';
import type { BenchFigures, RunFigures } from './figures.ts';
import { show } from './tables.ts';

/* The drawing: one panel a question, one bar a contender. Written by hand, since it is forty lines. */

interface Panel {
  title: string;
  bars: { label: string; value: number; ours: boolean }[];
}

const width = 860;
const labelWidth = 190;
const barHeight = 18;
const panelGap = 34;
const barsWidth = width - labelWidth - 120;

/** The figures as an SVG that reads on light and dark ground; empty panels are left out. */
export function drawChart(figures: BenchFigures): string {
  let top = 58;
  const drawn = panelsOf(figures).map((panel) => {
    const text = drawPanel(panel, top);
    top += panel.bars.length * barHeight + panelGap + 8;
    return text;
  });
  const { machine, quick } = figures;
  const subtitle = `${machine.cores} cores, ${machine.cpu}, Node ${machine.node}, Redis ${machine.redis} (hz ${machine.hz}), BullMQ ${machine.bullmq}${quick ? ' – small numbers, no measurement' : ''}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${top}" viewBox="0 0 ${width} ${top}" font-family="system-ui, sans-serif" font-size="12">`,
    '<style>text{fill:#1f2328}.small{fill:#656d76}.ours{fill:#1a7f37}.other{fill:#8c959f}@media(prefers-color-scheme:dark){text{fill:#e6edf3}.small{fill:#8d96a0}}</style>',
    '<text x="0" y="18" font-size="16" font-weight="600">Pollkeeper and its peers, one run</text>',
    `<text x="0" y="36" class="small">${escaped(subtitle)}</text>`,
    ...drawn,
    '</svg>',
    '',
  ].join('\n');
}

function panelsOf({ runs }: BenchFigures): Panel[] {
  const of = (scenario: string, concurrency: number) =>
    runs.filter((run) => run.scenario === scenario && run.concurrency === concurrency);
  const steady = of('S1', 100);
  const panel = (title: string, from: readonly RunFigures[], value: (run: RunFigures) => number | null): Panel => ({
    title,
    bars: from.flatMap((run) => {
      const shown = value(run);
      const mark = run.misbehaved.length > 0 ? ' *' : '';
      const label = contenderTitles[run.contender] + mark;
      return shown === null ? [] : [{ label, value: shown, ours: run.contender === 'pollkeeper' }];
    }),
  });
  return [
    panel('S1 steady: p99 lateness, ms (less is better)', steady, (run) => run.latenessMs.p99),
    panel('S1 steady: Redis commands per poll (less is better)', steady, (run) => run.redisCommandsPerPoll),
    panel('S1 steady: CPU seconds per 1,000 polls (less is better)', steady, (run) => run.cpuSecondsPer1000Polls),
    panel('S1 steady: peak memory, MB (less is better)', steady, (run) => run.peakMegabytes),
    panel(
      'S2 saturation, 100 at a time: reads per second (more is better)',
      of('S2', 100),
      (run) => run.readsPerSecond,
    ),
    panel(
      'S2 saturation, 500 at a time: reads per second (more is better)',
      of('S2', 500),
      (run) => run.readsPerSecond,
    ),
    panel(
      'S3 crash: worst recovery, s (less is better; * lost jobs)',
      of('S3', 100),
      (run) => (run.recoveryMs.max ?? 0) / 1000,
    ),
    panel('K1 ten kills: jobs lost (less is better)', of('K1', 100), (run) => run.lost),
  ].filter(({ bars }) => bars.length > 0);
}

function drawPanel({ title, bars }: Panel, top: number): string {
  const largest = Math.max(...bars.map(({ value }) => value), Number.MIN_VALUE);
  const lines = bars.map(({ label, value, ours }, place) => {
    const y = top + 12 + place * barHeight;
    const length = Math.max(1, Math.round((value / largest) * barsWidth));
    return [
      `<text x="${labelWidth - 8}" y="${y + 12}" text-anchor="end">${escaped(label)}</text>`,
      `<rect class="${ours ? 'ours' : 'other'}" x="${labelWidth}" y="${y + 2}" width="${length}" height="${barHeight - 5}" rx="2"/>`,
      `<text x="${labelWidth + length + 6}" y="${y + 12}">${show(value)}</text>`,
    ].join('');
  });
  return [`<text x="0" y="${top + 2}" font-weight="600">${escaped(title)}</text>`, ...lines].join('\n');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
