//! Least squares in a table of rows and columns with missing cells.

/// A small weight for each column's effect. It fixes the level of the columns' effects (their sum is 0), and makes the
/// difference of rows that share no chain of columns very uncertain. It has no other visible effect.
const TIE: f64 = 1e-6;

/// A value in the table. Weights are about 1.
pub(super) struct Cell {
    pub row: usize,
    pub column: usize,
    pub value: f64,
    pub weight: f64,
}

/// The fit `value = row + column + rest`.
pub(super) struct TwoWay {
    /// Level of each row; meaningless without cells.
    pub rows: Vec<f64>,
    /// Effect of each column; 0 without cells.
    pub columns: Vec<f64>,
    /// Weighted sum of squares of the rest.
    pub rest: f64,
    inverse: Vec<Vec<f64>>,
}

impl TwoWay {
    /// Fits a table of `rows` x `columns`. Several cells may share a position.
    pub fn fit(cells: &[Cell], rows: usize, columns: usize) -> Self {
        let all: f64 = cells.iter().map(|cell| cell.weight).sum();
        let level = cells.iter().map(|cell| cell.weight * cell.value).sum::<f64>() / all.max(TIE);
        let mut by_column = vec![(TIE, 0.0); columns];
        let mut crossed = vec![vec![0.0; columns]; rows];
        let mut own = vec![(0.0, 0.0); rows];
        for cell in cells {
            let value = cell.weight * (cell.value - level);
            by_column[cell.column].0 += cell.weight;
            by_column[cell.column].1 += value;
            own[cell.row].0 += cell.weight;
            own[cell.row].1 += value;
            crossed[cell.row][cell.column] += cell.weight;
        }
        let share = |a: usize, b: usize| -> f64 {
            let columns = crossed[a].iter().zip(&crossed[b]).zip(&by_column);
            columns.map(|((a, b), (weight, _))| a * b / weight).sum()
        };
        let normal = (0..rows).map(|a| {
            let diagonal = |b| if a == b { own[a].0 + f64::from(own[a].0 == 0.0) } else { 0.0 };
            (0..rows).map(|b| diagonal(b) - share(a, b)).collect()
        });
        let inverse = inverse(normal.collect());
        let right: Vec<f64> = (0..rows)
            .map(|row| {
                let columns = crossed[row].iter().zip(&by_column);
                own[row].1 - columns.map(|(own, (weight, sum))| own * sum / weight).sum::<f64>()
            })
            .collect();
        let effects: Vec<f64> = inverse.iter().map(|line| dot(line, &right)).collect();
        let columns: Vec<f64> = (0..columns)
            .map(|column| {
                let rows = crossed.iter().zip(&effects).map(|(row, effect)| row[column] * effect);
                (by_column[column].1 - rows.sum::<f64>()) / by_column[column].0
            })
            .collect();
        let rows: Vec<f64> = effects.iter().map(|effect| effect + level).collect();
        let rest = |cell: &Cell| cell.value - rows[cell.row] - columns[cell.column];
        let rest = cells.iter().map(|cell| cell.weight * rest(cell).powi(2)).sum();
        Self { rows, columns, rest, inverse }
    }

    /// Variance of the difference of two rows, in units of the variance of a cell of weight 1.
    pub fn variance_of_difference(&self, a: usize, b: usize) -> f64 {
        self.inverse[a][a] + self.inverse[b][b] - 2.0 * self.inverse[a][b]
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Gauss-Jordan elimination without pivoting, as the matrix is symmetric and positive definite.
fn inverse(mut matrix: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let size = matrix.len();
    for (at, line) in matrix.iter_mut().enumerate() {
        line.resize(2 * size, 0.0);
        line[size + at] = 1.0;
    }
    for at in 0..size {
        let pivot = matrix[at][at];
        matrix[at].iter_mut().for_each(|value| *value /= pivot);
        let reduced = matrix[at].clone();
        for (_, line) in matrix.iter_mut().enumerate().filter(|(other, _)| *other != at) {
            let factor = line[at];
            line.iter_mut().zip(&reduced).for_each(|(value, pivot)| *value -= factor * pivot);
        }
    }
    matrix.into_iter().map(|line| line[size..].to_vec()).collect()
}
