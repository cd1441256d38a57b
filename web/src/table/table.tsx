// A table that sorts, and draws only the rows that are on the screen.
import { useMemo, useRef, useState } from 'preact/hooks';
import type { Key } from '../text/strings.ts';
import { useUi } from '../ui.ts';
import { Icon } from '../views/icon.tsx';
import { Menu, type MenuItem } from '../views/menu.tsx';
import type { Column } from './columns.ts';
import { layout } from './layout.ts';
import { ordered, type Order } from './order.ts';
import { useSlice } from './use_slice.ts';
import { memo } from '../memo.ts';

export interface TableProps<Row> {
  readonly title: Key;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly rowKey: (row: Row) => string;
  /** Names the row in its menu. */
  readonly rowName?: (row: Row) => string;
  readonly rowClass?: (row: Row) => string;
  readonly menu?: (row: Row) => readonly MenuItem[];
  /** None: rows come in an order of their own. */
  readonly order?: Order;
}

export const ROW_HEIGHT = 30;
const MENU_WIDTH = 40;

export function Table<Row>(props: TableProps<Row>) {
  const { title, rows, rowKey, menu } = props;
  const { t } = useUi();
  const [order, setOrder] = useState(props.order);
  const [open, setOpen] = useState<{ row: Row; x: number; y: number } | null>(null);
  const sorted = useMemo(() => {
    const column = props.columns.find((c) => c.id === order?.column);
    return order && column ? ordered(rows, column.value, order.descending) : rows;
  }, [rows, order, props.columns]);
  const box = useRef<HTMLDivElement>(null);
  const shown = useSlice(box, sorted.length, ROW_HEIGHT);
  const placed = useMemo(() => layout(props.columns, shown.width - (menu ? MENU_WIDTH : 0)), [props.columns, shown.width, menu !== undefined]);
  const columns = useMemo(() => placed.map((p) => p.column), [placed]);
  const span = columns.length + (menu ? 1 : 0);

  const menuAt = (row: Row, x: number, y: number) => setOpen({ row, x, y });
  return (
    <div class="table-box" ref={box} tabIndex={0} role="group" aria-label={t(title)} onKeyDown={moveAmongRows}>
      <table aria-rowcount={rows.length + 1}>
        <colgroup>
          {placed.map(({ column, width }) => (
            <col key={column.id} style={{ width: `${width}px` }} />
          ))}
          {menu && <col style={{ width: `${MENU_WIDTH}px` }} />}
        </colgroup>
        <thead>
          <tr>
            {columns.map((c) => (
              <Head key={c.id} column={c} order={order} onOrder={props.order ? setOrder : undefined} />
            ))}
            {menu && (
              <th scope="col" class="menu-cell">
                <span class="unseen">{t('menu_more')}</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          <Spacer height={shown.above} span={span} />
          {sorted.slice(shown.first, shown.end).map((row, k) => (
            <BodyRow key={rowKey(row)} index={shown.first + k} row={row} columns={columns} class={props.rowClass?.(row) ?? ''} name={props.rowName?.(row) ?? ''} menuAt={menu ? menuAt : undefined} language={t} />
          ))}
          <Spacer height={shown.below} span={span} />
        </tbody>
      </table>
      {open && menu && <Menu label={t('row_menu', { name: props.rowName?.(open.row) ?? '' })} x={open.x} y={open.y} items={menu(open.row)} onClose={() => setOpen(null)} />}
    </div>
  );
}

function Spacer({ height, span }: { height: number; span: number }) {
  return height > 0 ? (
    <tr class="spacer" aria-hidden="true">
      <td colSpan={span} style={{ height: `${height}px` }} />
    </tr>
  ) : null;
}

interface HeadProps<Row> {
  readonly column: Column<Row>;
  readonly order: Order | undefined;
  readonly onOrder: ((order: Order) => void) | undefined;
}

function Head<Row>({ column, order, onOrder }: HeadProps<Row>) {
  const { t } = useUi();
  const own = order?.column === column.id ? order : undefined;
  const place = column.numeric ? 'num' : '';
  if (!onOrder) {
    return (
      <th scope="col" class={place}>
        {t(column.label)}
      </th>
    );
  }
  return (
    <th scope="col" class={place} aria-sort={own ? (own.descending ? 'descending' : 'ascending') : 'none'}>
      <button type="button" class="sort" onClick={() => onOrder({ column: column.id, descending: own ? !own.descending : column.numeric === true })}>
        <span>{t(column.label)}</span>
        {own && <Icon name={own.descending ? 'down' : 'up'} />}
      </button>
    </th>
  );
}

interface RowProps {
  readonly row: unknown;
  readonly index: number;
  readonly columns: readonly Column<never>[];
  readonly class: string;
  readonly name: string;
  readonly menuAt: ((row: never, x: number, y: number) => void) | undefined;
  /** Another language draws every row anew. */
  readonly language: unknown;
}

const BodyRow = memo<RowProps>(function BodyRow(props) {
  const { t } = useUi();
  const { index, menuAt } = props;
  const row = props.row as never;
  const onMenu = menuAt
    ? (event: MouseEvent) => {
        event.preventDefault();
        menuAt(row, event.clientX, event.clientY);
      }
    : undefined;
  return (
    <tr class={props.class} aria-rowindex={index + 2} {...(onMenu ? { onContextMenu: onMenu } : {})}>
      {props.columns.map((c) => {
        const value = c.value(row);
        const content = c.cell ? c.cell(row) : (value ?? '–');
        const look = c.numeric ? 'num' : '';
        const title = typeof value === 'string' && value.length > 12 ? { title: value } : {};
        return c.head ? (
          <th scope="row" key={c.id} class={look} {...title}>
            {content}
          </th>
        ) : (
          <td key={c.id} class={look} {...title}>
            {content}
          </td>
        );
      })}
      {menuAt && (
        <td class="menu-cell">
          <button
            type="button"
            class="quiet"
            aria-haspopup="menu"
            aria-label={t('row_menu', { name: props.name })}
            onClick={(event) => {
              const edge = event.currentTarget.getBoundingClientRect();
              menuAt(row, edge.right, edge.bottom);
            }}
          >
            <Icon name="more" />
          </button>
        </td>
      )}
    </tr>
  );
});

/** Arrow keys go from a row's main button to the next row's. */
function moveAmongRows(event: KeyboardEvent): void {
  const step = { ArrowDown: 'nextElementSibling', ArrowUp: 'previousElementSibling' }[event.key] as 'nextElementSibling' | 'previousElementSibling' | undefined;
  const row = event.target instanceof Element ? event.target.closest('tbody tr') : null;
  const next = step && row?.[step]?.querySelector<HTMLElement>('.row-name');
  if (!next) return;
  event.preventDefault();
  next.focus();
}
