import { BarChart, HeatmapChart, LineChart, MapChart } from 'echarts/charts';
import { AriaComponent, GridComponent, TooltipComponent, VisualMapComponent } from 'echarts/components';
import { use } from 'echarts/core';
import { CanvasRenderer } from 'echarts/renderers';

// Only what the console draws; a page that needs more adds it here.
use([
  BarChart,
  HeatmapChart,
  LineChart,
  MapChart,
  AriaComponent,
  GridComponent,
  TooltipComponent,
  VisualMapComponent,
  CanvasRenderer,
]);

export { init, registerMap } from 'echarts/core';
