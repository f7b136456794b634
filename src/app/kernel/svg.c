#include "app/kernel/svg.h"

#include "base/mem.h"
#include "image/flat/heat.h"
#include "image/flat/png.h"

static const char STYLE[] =
    "svg { width: 100%; max-width: 1100px; height: auto; display: block; margin: 0 auto }\n"
    ":root { --paper: #fff; background: var(--paper); --ink: #222; --soft: #555; --grid: #d9d9d9; "
    "--fine: #f0f0f0;\n"
    " --r: #c8372d; --g: #2e8b45; --b: #2f5fc4 }\n"
    "@media (prefers-color-scheme: dark) { :root { --paper: #16161a; --ink: #e8e8ec;\n"
    " --soft: #a3a3ae; --grid: #3a3a42; --fine: #26262c; --r: #f0665a; --g: #6fce6f;\n"
    " --b: #6a9cf5 } }\n"
    "text { fill: var(--ink); font-size: 14px } .mid { text-anchor: middle }\n"
    ".end { text-anchor: end } .head { font-size: 26px; font-weight: 600 }\n"
    ".head tspan { font-size: 14px; font-weight: 400; fill: var(--soft) }\n"
    ".title { font-size: 15px; font-weight: 600 } .sub, .label, .tick { fill: var(--soft) }\n"
    ".label, .tick { font-size: 13px } line { stroke: var(--ink) } .grid { stroke: var(--grid) }\n"
    ".fine { stroke: var(--fine) } .axis { stroke: var(--soft) }\n"
    ".frame { fill: none; stroke: var(--soft) } .part { fill: none; stroke: #fff }\n"
    ".share { fill: none; stroke: #3cf; stroke-width: 1.5; stroke-dasharray: 4 3 }\n"
    ".share-label { font-size: 12px; fill: #fff; paint-order: stroke; stroke: #0009;\n"
    " stroke-width: 3px }\n"
    ".curve { fill: none; stroke-width: 1.8; stroke-linejoin: round } .y { stroke: var(--ink) }\n"
    ".r { stroke: var(--r) } .g { stroke: var(--g) } .b { stroke: var(--b) }\n"
    ".mark { fill: #fff; stroke: #222; stroke-width: 1.5 } .slim { display: none }\n";

void svg_begin(text *to, const char *name, int height, const char *style) {
    text_add(to,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
             "preserveAspectRatio=\"xMidYMin\" font-family=\"system-ui, Helvetica, Arial, "
             "'Liberation Sans', 'DejaVu Sans', "
             "sans-serif\">\n<title>",
             SVG_WIDTH, height);
    text_add_xml(to, name);
    text_add(to, "</title>\n<style>\n%s%s</style>\n<text x=\"20\" y=\"40\" class=\"head\">", STYLE,
             style);
    text_add_xml(to, name);
    text_add(to, "<tspan dx=\"14\">");
}

void svg_text(text *to, double x, double y, const char *class, const char *fmt, ...) {
    char words[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(words, sizeof words, fmt, args);
    va_end(args);
    text_add(to, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
    text_add_xml(to, words);
    text_add(to, "</text>\n");
}

void svg_power(text *to, double x, double y, const char *class, int exponent) {
    if (exponent == 0)
        svg_text(to, x, y, class, "1");
    else
        text_add(to,
                 "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">10<tspan dy=\"-4\" font-size=\"10\">%s%d"
                 "</tspan></text>\n",
                 x, y, class, exponent < 0 ? "\xe2\x88\x92" : "", abs(exponent));
}

void svg_line(text *to, double x0, double y0, double x1, double y1, const char *class) {
    text_add(to, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>\n", x0, y0,
             x1, y1, class);
}

void svg_frame(text *to, double x, double y, double w, double h, const char *class) {
    text_add(to, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" class=\"%s\"/>\n", x,
             y, w, h, class);
}

bool svg_picture(text *to, const preview_picture *from, double x, double y, double w, double h,
                 err *e) {
    size_t bytes;
    const png_picture png = {from->pixel, from->width, from->height, 3};
    OWN_MEM uint8_t *file = png_encode(&png, &bytes, e);
    if (!file) return false;
    text_add(to,
             "<image x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
             "preserveAspectRatio=\"none\"%s href=\"data:image/png;base64,",
             x, y, w, h, from->width < w ? " style=\"image-rendering:pixelated\"" : "");
    text_add_base64(to, file, bytes);
    text_add(to, "\"/>\n");
    return true;
}

bool svg_scale(text *to, double low, double decades, double x, double y, double w, err *e) {
    uint8_t colours[3 * 256];
    const preview_picture bar = {colours, 256, 1, 0};
    for (int i = 0; i < 256; i++) heat_colour((float)i / 255, colours + 3 * i);
    bool ok = svg_picture(to, &bar, x, y, w, 12, e);
    svg_frame(to, x, y, w, 12, "frame");
    const int first = (int)ceil(low - 1e-9), each = decades > 5 ? 2 : 1;
    for (int d = first; d <= low + decades + 1e-9; d += each) {
        double at = x + w * (d - low) / decades;
        svg_line(to, at, y + 12, at, y + 16, "axis");
        svg_power(to, at, y + 30, "tick mid", d);
    }
    return ok;
}
