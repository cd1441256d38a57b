// One entry's code, annotated: what stands out first, then machine code beside the loop program and the bytecode that it was made from.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Bytecode, Disassembly } from '../api/schema.ts';
import type { EntryAddress } from '../feed/feed.ts';
import { highlight, type Kernel, type Target } from '../model/links.ts';
import { csv, csvName } from '../table/csv.ts';
import { bytes, count } from '../text/format.ts';
import { sentence } from '../text/sentences.ts';
import { named } from '../text/strings.ts';
import { useUi } from '../ui.ts';
import { Icon } from '../views/icon.tsx';
import { Place } from '../views/badges.tsx';
import { CsvButton } from '../views/panel.tsx';
import { Listing, type Line } from './listing.tsx';

interface Props {
  readonly address: EntryAddress;
  readonly onClose: () => void;
}

type Loaded = { readonly code: Disassembly; readonly bytecode: Bytecode } | { readonly error: string };

export function Drawer({ address, onClose }: Props) {
  const { t, feed } = useUi();
  const box = useRef<HTMLDialogElement>(null);
  const [loaded, setLoaded] = useState<Loaded | null>(null);

  useEffect(() => {
    box.current?.showModal();
  }, []);
  useEffect(() => {
    let wanted = true;
    setLoaded(null);
    const ask = async () => {
      try {
        // Bytecode only helps: without it the code still shows.
        const [code, bytecode] = await Promise.all([feed.disassembly(address), feed.bytecode(address.program).catch(() => ({ lines: [] }))]);
        if (wanted) setLoaded({ code, bytecode });
      } catch (error) {
        if (wanted) setLoaded({ error: error instanceof Error ? error.message : String(error) });
      }
    };
    void ask();
    return () => {
      wanted = false;
    };
  }, [feed, address]);

  return (
    <dialog ref={box} class="drawer" aria-label={t('disassembly_of', { name: address.entry })} onClose={onClose}>
      <header class="drawer-head">
        <h2>
          {t('disassembly')} <span class="mono">{address.entry}</span>
        </h2>
        <button type="button" class="quiet" aria-label={t('close')} title={t('close')} onClick={() => box.current?.close()}>
          <Icon name="close" />
        </button>
      </header>
      {loaded === null && <p class="empty">{t('loading')}</p>}
      {loaded && 'error' in loaded && <p class="banner bad">{t('load_failed', { why: loaded.error })}</p>}
      {loaded && 'code' in loaded && <Code code={loaded.code} bytecode={loaded.bytecode} address={address} />}
    </dialog>
  );
}

const CALL_COLUMNS = [
  { id: 'instruction', value: (c: Disassembly['calls'][number]) => c.instruction },
  { id: 'operator', value: (c: Disassembly['calls'][number]) => c.operator },
  { id: 'kernel', value: (c: Disassembly['calls'][number]) => c.kernel },
];

function Code({ code, bytecode, address }: { code: Disassembly; bytecode: Bytecode; address: EntryAddress }) {
  const { t, host, language } = useUi();
  const [at, setAt] = useState(0);
  const [jump, setJump] = useState<{ line: number } | null>(null);
  const kernel = code.kernels[at];
  return (
    <div class="drawer-body">
      <section aria-labelledby="findings-title">
        <h3 id="findings-title">
          {t('findings')} {code.findings.length > 0 && <span class="panel-count">{code.findings.length}</span>}
        </h3>
        {code.findings.length === 0 && <p class="muted">{t('findings_none')}</p>}
        <ol class="findings">
          {code.findings.map((f, k) => (
            <li key={k} class="finding">
              <p>
                <strong>{named(t, 'finding', f.kind)}</strong> {sentence(f.text, language)}{' '}
                {code.kernels[f.kernel]?.lines[f.line] && (
                  <button
                    type="button"
                    class="link"
                    onClick={() => {
                      setAt(f.kernel);
                      setJump({ line: f.line });
                    }}
                  >
                    {code.kernels.length > 1 ? `${code.kernels[f.kernel]?.name ?? ''}, ` : ''}
                    {t('jump', { n: f.line + 1 })}
                  </button>
                )}
              </p>
              {f.mend !== '' && <p class="mend">{sentence(f.mend, language)}</p>}
            </li>
          ))}
        </ol>
      </section>
      {code.calls.length > 0 && (
        <details class="calls">
          <summary>
            {t('calls')} <span class="panel-count">{code.calls.length}</span>
          </summary>
          <div class="table-tools">
            <CsvButton title="calls" onClick={() => host.download(csvName('kernels', new Date().toISOString()), csv(CALL_COLUMNS, code.calls))} />
          </div>
          <table class="small">
            <thead>
              <tr>
                <th scope="col" class="num">
                  {t('instruction')}
                </th>
                <th scope="col">{t('operator')}</th>
                <th scope="col">{t('kernel')}</th>
              </tr>
            </thead>
            <tbody>
              {code.calls.map((c, k) => (
                <tr key={k}>
                  <td class="num">{c.instruction}</td>
                  <td>{c.operator}</td>
                  <td class="mono">{c.kernel}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      )}
      {code.kernels.length > 1 && (
        <div class="tabs" role="group" aria-label={t('kernel')}>
          {code.kernels.map((k, index) => (
            <button
              type="button"
              key={k.name}
              class="quiet"
              aria-pressed={index === at}
              onClick={() => {
                setAt(index);
                setJump(null);
              }}
            >
              {k.name}
            </button>
          ))}
        </div>
      )}
      {kernel ? <KernelView key={at} code={code} kernel={kernel} bytecode={bytecode} address={address} jump={jump} /> : <p class="empty">{t('no_kernels')}</p>}
    </div>
  );
}

interface KernelProps {
  readonly code: Disassembly;
  readonly kernel: Kernel;
  readonly bytecode: Bytecode;
  readonly address: EntryAddress;
  readonly jump: { readonly line: number } | null;
}

type CodeLine = Kernel['lines'][number];
const CODE_COLUMNS = [
  { id: 'address', value: (l: CodeLine) => l.address },
  { id: 'text', value: (l: CodeLine) => l.text },
  { id: 'ir_line', value: (l: CodeLine) => l.ir },
  { id: 'instructions', value: (l: CodeLine) => l.instructions.join(' ') },
  { id: 'places', value: (l: CodeLine) => l.places.join(' ') },
  { id: 'finding', value: (l: CodeLine) => l.finding },
];

function KernelView({ code, kernel, bytecode, address, jump }: KernelProps) {
  const { t, host, language } = useUi();
  const [target, setTarget] = useState<Target | null>(null);
  const lit = useMemo(() => highlight(kernel, target), [kernel, target]);

  const used = useMemo(() => new Set(kernel.lines.flatMap((l) => l.instructions)), [kernel]);
  const places = useMemo(() => [...new Set(kernel.lines.flatMap((l) => l.places))], [kernel]);
  const bytecode_lines = useMemo(() => bytecode.lines.filter((l) => (used.size > 0 ? l.instruction !== null && used.has(l.instruction) : l.region === address.region)), [bytecode, used, address]);

  const code_lines = useMemo(
    () =>
      kernel.lines.map((l): Line => {
        const finding = l.finding === null ? undefined : code.findings[l.finding];
        return { gutter: l.address, text: l.text, mark: finding !== undefined, note: finding ? sentence(finding.text, language) : '' };
      }),
    [kernel, code, language],
  );
  const ir_lines = useMemo(() => kernel.ir.map((l, k): Line => ({ gutter: String(k + 1), text: l.text, mark: false, note: '' })), [kernel]);
  const bc_lines = useMemo(() => bytecode_lines.map((l): Line => ({ gutter: l.instruction === null ? '' : String(l.instruction), text: l.text, mark: false, note: l.place })), [bytecode_lines]);
  const bc_lit = useMemo(() => new Set([...bytecode_lines.keys()].filter((k) => lit.instructions.has(bytecode_lines[k]?.instruction ?? -1))), [bytecode_lines, lit]);

  const save = () => host.download(csvName('disassembly', new Date().toISOString()), csv(CODE_COLUMNS, kernel.lines));
  const copy = () => host.copy(kernel.lines.map((l) => `${l.address}\t${l.text}`).join('\n'));
  return (
    <>
      <div class="drawer-tools">
        <span class="muted">
          {kernel.name} · {t('code_lines', { n: count(kernel.lines.length), size: bytes(kernel.size) })}
        </span>
        {places.length > 0 && (
          <ul class="chips" aria-label={t('python')}>
            {places.map((place) => (
              <li
                key={place}
                class={`chip ${lit.places.has(place) ? 'lit' : ''}`}
                tabIndex={0}
                onPointerEnter={() => setTarget({ side: 'place', place })}
                onPointerLeave={() => setTarget(null)}
                onFocus={() => setTarget({ side: 'place', place })}
                onBlur={() => setTarget(null)}
              >
                <Place place={place} />
              </li>
            ))}
          </ul>
        )}
        <span class="grow" />
        <button type="button" class="quiet" onClick={copy}>
          <Icon name="copy" />
          <span>{t('copy')}</span>
        </button>
        <CsvButton title="machine_code" onClick={save} />
      </div>
      <div class="listings">
        <Listing title={t('machine_code')} class="asm" lines={code_lines} lit={lit.code} follow={target?.side !== 'code'} jump={jump?.line} jumps={jump} onTarget={(line) => setTarget(line === null ? null : { side: 'code', line })} />
        <Listing title={t('ir')} class="ir" lines={ir_lines} lit={lit.ir} follow={target?.side !== 'ir'} onTarget={(line) => setTarget(line === null ? null : { side: 'ir', line })} />
        <Listing
          title={t('bytecode')}
          class="bc"
          lines={bc_lines}
          lit={bc_lit}
          follow={target?.side !== 'bytecode'}
          onTarget={(line) => {
            const instruction = line === null ? null : (bytecode_lines[line]?.instruction ?? null);
            setTarget(instruction === null ? null : { side: 'bytecode', instruction });
          }}
        />
      </div>
    </>
  );
}
